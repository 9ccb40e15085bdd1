#include <errno.h>
#include <stdlib.h>

#include "raw_history.h"

static int append_records(raw_store *store, const episode_row *rows, size_t start, size_t end);
static int load_tree(
    raw_store *store, int tree, const episode_row *rows, size_t count, size_t chunk,
    entry *entries);
static int append_entries(raw_store *store, int tree, entry *entries, size_t start, size_t end);
static int end_chunk(MDB_txn *transaction, int code);

int raw_store_load_sorted(
    raw_store *store, const episode_row *rows, size_t count, size_t chunk) {
  entry *entries = malloc(count * sizeof *entries);
  if (entries == NULL) return ENOMEM;
  int code = 0;
  // Object ids ascend in arrival order: the records are sorted as they come.
  for (size_t start = 0; start < count && code == 0; start += chunk) {
    code = append_records(store, rows, start, count - start < chunk ? count : start + chunk);
  }
  for (int tree = 0; tree < tree_count && code == 0; tree++) {
    code = load_tree(store, tree, rows, count, chunk, entries);
  }
  free(entries);
  if (code == 0) store->next_object_id += count;
  return code;
}

static int append_records(raw_store *store, const episode_row *rows, size_t start, size_t end) {
  MDB_txn *transaction;
  MDB_cursor *cursor;
  history history;
  TRY(mdb_txn_begin(store->environment, NULL, 0, &transaction));
  int code = mdb_cursor_open(transaction, store->records, &cursor);
  if (code == 0) code = history_begin(&history, store, transaction);
  for (size_t index = start; index < end && code == 0; index++) {
    uint64_t object_id = store->next_object_id + index;
    code = put_record(cursor, object_id, &rows[index], MDB_APPEND);
    if (code == 0) code = history_insert(&history, object_id);
  }
  if (code == 0) code = history_end(&history);
  return end_chunk(transaction, code);
}

static int load_tree(
    raw_store *store, int tree, const episode_row *rows, size_t count, size_t chunk,
    entry *entries) {
  size_t found = 0;
  for (size_t index = 0; index < count; index++) {
    encode_entry(&rows[index], store->next_object_id + index, tree, &entries[found]);
    if (entries[found].length > 0) found += 1;
  }
  qsort(entries, found, sizeof *entries, compare_entries);
  for (size_t start = 0; start < found; start += chunk) {
    TRY(append_entries(store, tree, entries, start, found - start < chunk ? found : start + chunk));
  }
  return 0;
}

static int append_entries(raw_store *store, int tree, entry *entries, size_t start, size_t end) {
  MDB_txn *transaction;
  MDB_cursor *cursor;
  TRY(mdb_txn_begin(store->environment, NULL, 0, &transaction));
  int code = mdb_cursor_open(transaction, store->trees[tree], &cursor);
  for (size_t index = start; index < end && code == 0; index++) {
    MDB_val key, data;
    split_entry(tree, &entries[index], &key, &data);
    code = mdb_cursor_put(cursor, &key, &data, MDB_APPEND);
  }
  return end_chunk(transaction, code);
}

static int end_chunk(MDB_txn *transaction, int code) {
  if (code == 0) return mdb_txn_commit(transaction);
  mdb_txn_abort(transaction);
  return code;
}
