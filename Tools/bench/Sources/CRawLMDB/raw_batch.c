#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "raw_commit.h"

typedef struct {
  uint64_t *items;
  size_t count;
  size_t capacity;
} id_list;

static int collect_type(raw_reader *reader, int64_t type, id_list *ids);
static int collect_before(raw_reader *reader, double date, id_list *ids);
static int append_id(id_list *ids, uint64_t object_id);
static int compare_ids(const void *left, const void *right);
static int update_chunk(raw_store *store, const uint64_t *ids, size_t count, double progress);
static int delete_chunk(raw_store *store, const uint64_t *ids, size_t count);
static int note_deletes(commit *commit, const uint64_t *ids, size_t count);
static int put_progress(MDB_cursor *cursor, uint64_t object_id, double progress);

int raw_store_update_type(
    raw_store *store, int64_t type, double progress, size_t chunk, size_t *updated) {
  raw_reader *reader;
  id_list ids = {.count = 0};
  *updated = 0;
  TRY(raw_reader_open(store, &reader));
  int code = collect_type(reader, type, &ids);
  raw_reader_close(reader);
  for (; code == 0 && *updated < ids.count;) {
    size_t length = ids.count - *updated < chunk ? ids.count - *updated : chunk;
    code = update_chunk(store, ids.items + *updated, length, progress);
    *updated += length;
  }
  free(ids.items);
  return code;
}

int raw_store_delete_before(raw_store *store, double date, size_t chunk, size_t *deleted) {
  raw_reader *reader;
  id_list ids = {.count = 0};
  *deleted = 0;
  TRY(raw_reader_open(store, &reader));
  int code = collect_before(reader, date, &ids);
  raw_reader_close(reader);
  for (; code == 0 && *deleted < ids.count;) {
    size_t length = ids.count - *deleted < chunk ? ids.count - *deleted : chunk;
    code = delete_chunk(store, ids.items + *deleted, length);
    *deleted += length;
  }
  free(ids.items);
  return code;
}

int raw_store_set_progress(
    raw_store *store, const episode_text *ids, const double *progress, size_t count) {
  MDB_txn *transaction;
  TRY(mdb_txn_begin(store->environment, NULL, 0, &transaction));
  MDB_cursor *names, *records;
  int code = mdb_cursor_open(transaction, store->trees[tree_id], &names);
  if (code == 0) code = mdb_cursor_open(transaction, store->records, &records);
  for (size_t index = 0; index < count && code == 0; index++) {
    history history;
    uint64_t object_id;
    code = find_object_id(names, ids[index], &object_id);
    if (code == 0) code = put_progress(records, object_id, progress[index]);
    if (code == 0) code = history_begin(&history, store, transaction);
    if (code == 0) code = history_update_progress(&history, object_id);
    if (code == 0) code = history_end(&history);
  }
  if (code == 0) return mdb_txn_commit(transaction);
  mdb_txn_abort(transaction);
  return code;
}

static int collect_type(raw_reader *reader, int64_t type, id_list *ids) {
  entry leading = {.length = 1, .bytes = {(uint8_t)type}};
  bool started = false;
  MDB_val key;
  int code;
  TRY(mdb_txn_renew(reader->snapshot));
  TRY(mdb_cursor_renew(reader->snapshot, reader->trees[tree_type_updated]));
  while ((code = next_entry(reader->trees[tree_type_updated], &leading, &started, &key)) == 0) {
    TRY(append_id(ids, entry_object_id(key)));
  }
  qsort(ids->items, ids->count, sizeof *ids->items, compare_ids);
  return code == MDB_NOTFOUND ? 0 : code;
}

/// Collects ids backwards from the end of the index, because the newest rows come first.
static int collect_before(raw_reader *reader, double date, id_list *ids) {
  episode_row bound = {.updated_at = date};
  entry edge;
  encode_entry(&bound, UINT64_MAX, tree_updated, &edge);
  TRY(mdb_txn_renew(reader->snapshot));
  MDB_cursor *cursor = reader->trees[tree_updated];
  TRY(mdb_cursor_renew(reader->snapshot, cursor));
  MDB_val key, data;
  int code = mdb_cursor_get(cursor, &key, &data, MDB_LAST);
  while (code == 0 && memcmp(key.mv_data, edge.bytes, 8) > 0) {
    TRY(append_id(ids, entry_object_id(key)));
    code = mdb_cursor_get(cursor, &key, &data, MDB_PREV);
  }
  qsort(ids->items, ids->count, sizeof *ids->items, compare_ids);
  return code == MDB_NOTFOUND ? 0 : code;
}

static int append_id(id_list *ids, uint64_t object_id) {
  if (ids->count == ids->capacity) {
    size_t capacity = ids->capacity > 0 ? ids->capacity * 2 : 4096;
    uint64_t *grown = realloc(ids->items, capacity * sizeof *grown);
    if (grown == NULL) return ENOMEM;
    ids->items = grown;
    ids->capacity = capacity;
  }
  ids->items[ids->count++] = object_id;
  return 0;
}

static int compare_ids(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

static int update_chunk(raw_store *store, const uint64_t *ids, size_t count, double progress) {
  MDB_txn *transaction;
  TRY(mdb_txn_begin(store->environment, NULL, 0, &transaction));
  MDB_cursor *cursor;
  history history;
  int code = mdb_cursor_open(transaction, store->records, &cursor);
  if (code == 0) code = history_begin(&history, store, transaction);
  for (size_t index = 0; index < count && code == 0; index++) {
    code = put_progress(cursor, ids[index], progress);
    if (code == 0) code = history_update_progress(&history, ids[index]);
  }
  if (code == 0) code = history_end(&history);
  if (code == 0) return mdb_txn_commit(transaction);
  mdb_txn_abort(transaction);
  return code;
}

static int delete_chunk(raw_store *store, const uint64_t *ids, size_t count) {
  commit commit;
  TRY(commit_begin(&commit, store, count));
  return commit_end(&commit, note_deletes(&commit, ids, count));
}

static int note_deletes(commit *commit, const uint64_t *ids, size_t count) {
  for (size_t index = 0; index < count; index++) {
    MDB_val key = record_key(&ids[index]), record;
    episode_row old;
    TRY(mdb_get(commit->transaction, commit->store->records, &key, &record));
    if (!read_record(record, &old)) return MDB_CORRUPTED;
    TRY(commit_note(commit, ids[index], &old, NULL));
  }
  return 0;
}

static int put_progress(MDB_cursor *cursor, uint64_t object_id, double progress) {
  MDB_val key = record_key(&object_id), old;
  uint8_t record[longest_record];
  TRY(mdb_cursor_get(cursor, &key, &old, MDB_SET_KEY));
  if (read_head(old) == NULL || old.mv_size > sizeof record) return MDB_CORRUPTED;
  memcpy(record, old.mv_data, old.mv_size);
  ((record_head *)record)->progress = progress;
  MDB_val new = {old.mv_size, record};
  return mdb_cursor_put(cursor, &key, &new, MDB_CURRENT);
}
