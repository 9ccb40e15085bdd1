#include <errno.h>
#include <stdlib.h>

#include "raw_trees.h"

static int load_tree(
    raw_store *store, int tree, const raw_row *rows, size_t count, size_t chunk, entry *entries);
static int append_chunk(
    raw_store *store, int tree, MDB_dbi dbi, const raw_row *rows, entry *entries, size_t start,
    size_t end);

int raw_store_load_sorted(raw_store *store, const raw_row *rows, size_t count, size_t chunk) {
  entry *entries = malloc(count * sizeof *entries);
  if (entries == NULL) return ENOMEM;
  int code = 0;
  // Object ids ascend in arrival order: the records are sorted as they come.
  for (size_t start = 0; start < count && code == 0; start += chunk) {
    size_t end = count - start < chunk ? count : start + chunk;
    code = append_chunk(store, 0, store->records, rows, NULL, start, end);
  }
  for (int tree = 0; tree < tree_count && code == 0; tree++) {
    code = load_tree(store, tree, rows, count, chunk, entries);
  }
  free(entries);
  if (code == 0) store->next_object_id += count;
  return code;
}

static int load_tree(
    raw_store *store, int tree, const raw_row *rows, size_t count, size_t chunk, entry *entries) {
  size_t found = 0;
  for (size_t index = 0; index < count; index++) {
    encode_entry(&rows[index], store->next_object_id + index, tree, &entries[found]);
    if (entries[found].length > 0) found += 1;
  }
  qsort(entries, found, sizeof *entries, compare_entries);
  for (size_t start = 0; start < found; start += chunk) {
    size_t end = found - start < chunk ? found : start + chunk;
    TRY(append_chunk(store, tree, store->trees[tree], NULL, entries, start, end));
  }
  return 0;
}

/// One commit: records of `rows` where they are given, else `entries` of `tree`.
static int append_chunk(
    raw_store *store, int tree, MDB_dbi dbi, const raw_row *rows, entry *entries, size_t start,
    size_t end) {
  MDB_txn *transaction;
  MDB_cursor *cursor;
  TRY(mdb_txn_begin(store->environment, NULL, 0, &transaction));
  int code = mdb_cursor_open(transaction, dbi, &cursor);
  for (size_t index = start; index < end && code == 0; index++) {
    code = rows != NULL
        ? put_record(store, cursor, store->next_object_id + index, &rows[index], MDB_APPEND)
        : put_entry(store, cursor, tree, &entries[index], MDB_APPEND);
  }
  if (code == 0) return mdb_txn_commit(transaction);
  mdb_txn_abort(transaction);
  return code;
}
