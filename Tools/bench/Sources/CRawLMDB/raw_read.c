#include <errno.h>
#include <string.h>

#include "raw_trees.h"

_Static_assert(raw_not_found == MDB_NOTFOUND, "the header repeats LMDB's code");

static int begin_read(raw_store *store);
static int fetch_record(raw_store *store, uint64_t object_id, raw_result *result);
static int list_rows(
    raw_store *store, int tree, entry *leading, size_t limit, raw_result *result);
static int count_entries(raw_store *store, MDB_cursor *cursor, uint8_t type, size_t *count);
static raw_text copy_out(raw_result *result, raw_text text);

int raw_store_get(raw_store *store, raw_text id, raw_result *result) {
  result->count = result->used = 0;
  TRY(begin_read(store));
  uint64_t object_id;
  int code = find_object_id(store, store->cursors[tree_id], id, &object_id);
  if (code == 0) code = fetch_record(store, object_id, result);
  mdb_txn_reset(store->snapshot);
  return code;
}

int raw_store_list(
    raw_store *store, raw_list list, raw_text path, size_t limit, raw_result *result) {
  static const int trees[] = {
    [raw_list_recent] = tree_updated, [raw_list_favorites] = tree_favorite,
    [raw_list_watch_later] = tree_watch_later, [raw_list_free] = tree_type_updated,
    [raw_list_history] = tree_watched, [raw_list_path] = tree_path,
  };
  result->count = result->used = 0;
  if (limit > sizeof result->rows / sizeof *result->rows) return EINVAL;
  entry leading = {.length = 0, .leading = 0};
  if (list == raw_list_free) leading = (entry){.length = 1, .leading = 1, .bytes = {1}};
  if (list == raw_list_path) encode_leading_text(path, &leading);
  TRY(begin_read(store));
  int code = list_rows(store, trees[list], &leading, limit, result);
  mdb_txn_reset(store->snapshot);
  return code;
}

int raw_store_count_by_type(raw_store *store, size_t counts[3]) {
  TRY(begin_read(store));
  int code = 0;
  for (uint8_t type = 1; type <= 3 && code == 0; type++) {
    code = count_entries(store, store->cursors[tree_type_updated], type, &counts[type - 1]);
  }
  mdb_txn_reset(store->snapshot);
  return code;
}

static int begin_read(raw_store *store) {
  if (store->snapshot == NULL) {
    TRY(mdb_txn_begin(store->environment, NULL, MDB_RDONLY, &store->snapshot));
    for (int tree = 0; tree < tree_count; tree++) {
      TRY(mdb_cursor_open(store->snapshot, store->trees[tree], &store->cursors[tree]));
    }
    return 0;
  }
  TRY(mdb_txn_renew(store->snapshot));
  for (int tree = 0; tree < tree_count; tree++) {
    TRY(mdb_cursor_renew(store->snapshot, store->cursors[tree]));
  }
  return 0;
}

static int list_rows(raw_store *store, int tree, entry *leading, size_t limit, raw_result *result) {
  bool started = false;
  while (result->count < limit) {
    uint64_t object_id;
    int code = next_object_id(store, store->cursors[tree], tree, leading, &started, &object_id);
    if (code == MDB_NOTFOUND) return 0;
    TRY(code);
    TRY(fetch_record(store, object_id, result));
  }
  return 0;
}

static int fetch_record(raw_store *store, uint64_t object_id, raw_result *result) {
  uint8_t bytes[8];
  MDB_val key = record_key(store, object_id, bytes), record;
  TRY(mdb_get(store->snapshot, store->records, &key, &record));
  raw_row *row = &result->rows[result->count];
  if (record.mv_size > longest_record || !read_record(record, row)) return MDB_CORRUPTED;
  row->id = copy_out(result, row->id);
  row->title = copy_out(result, row->title);
  row->summary = copy_out(result, row->summary);
  row->url = copy_out(result, row->url);
  row->path_id = copy_out(result, row->path_id);
  result->count += 1;
  return 0;
}

static raw_text copy_out(raw_result *result, raw_text text) {
  if (text.bytes == NULL) return text;
  char *copy = result->text + result->used;
  memcpy(copy, text.bytes, text.length);
  result->used += text.length;
  return (raw_text){copy, text.length};
}

static int count_entries(raw_store *store, MDB_cursor *cursor, uint8_t type, size_t *count) {
  MDB_val key = {1, &type}, data;
  *count = 0;
  if (is_partitioned(store, tree_type_updated)) {
    int code = mdb_cursor_get(cursor, &key, &data, MDB_SET_KEY);
    if (code == MDB_NOTFOUND) return 0;
    TRY(code);
    return mdb_cursor_count(cursor, count);
  }
  int code = mdb_cursor_get(cursor, &key, &data, MDB_SET_RANGE);
  while (code == 0 && *(const uint8_t *)key.mv_data == type) {
    *count += 1;
    code = mdb_cursor_get(cursor, &key, &data, MDB_NEXT);
  }
  return code == MDB_NOTFOUND ? 0 : code;
}
