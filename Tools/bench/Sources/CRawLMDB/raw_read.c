#include <errno.h>
#include <string.h>

#include "raw_trees.h"

_Static_assert(raw_not_found == MDB_NOTFOUND, "the header repeats LMDB's code");

typedef int fetch(raw_reader *reader, uint64_t object_id, episode_result *result);

static int list(
    raw_reader *reader, episode_list list, episode_text path, size_t limit, episode_result *result,
    fetch *fetch);
static int begin_read(raw_reader *reader, MDB_cursor *cursor);
static int list_entries(
    raw_reader *reader, int tree, entry *leading, size_t limit, episode_result *result,
    fetch *fetch);
static int fetch_row(raw_reader *reader, uint64_t object_id, episode_result *result);
static int fetch_card(raw_reader *reader, uint64_t object_id, episode_result *result);
static int count_entries(raw_reader *reader, int64_t type, size_t *count);
static int end_walk(raw_reader *reader, int code);

int raw_reader_get(raw_reader *reader, episode_text id, episode_result *result) {
  result->count = result->used = 0;
  TRY(begin_read(reader, reader->trees[tree_id]));
  uint64_t object_id;
  int code = find_object_id(reader->trees[tree_id], id, &object_id);
  if (code == 0) code = fetch_row(reader, object_id, result);
  mdb_txn_reset(reader->snapshot);
  return code;
}

int raw_reader_list(
    raw_reader *reader, episode_list kind, episode_text path, size_t limit,
    episode_result *result) {
  return list(reader, kind, path, limit, result, fetch_row);
}

int raw_reader_cards(
    raw_reader *reader, episode_list kind, episode_text path, size_t limit,
    episode_result *result) {
  return list(reader, kind, path, limit, result, fetch_card);
}

int raw_reader_scan(raw_reader *reader, episode_filter filter, size_t *matches) {
  *matches = 0;
  TRY(begin_read(reader, reader->records));
  MDB_val key, record;
  int code = mdb_cursor_get(reader->records, &key, &record, MDB_FIRST);
  while (code == 0) {
    const record_head *head = read_head(record);
    if (head == NULL) break;
    *matches +=
        head->duration >= filter.duration_at_least && head->progress > filter.progress_above;
    code = mdb_cursor_get(reader->records, &key, &record, MDB_NEXT);
  }
  return end_walk(reader, code);
}

int raw_reader_sum_duration(raw_reader *reader, int64_t *sum) {
  *sum = 0;
  TRY(begin_read(reader, reader->records));
  MDB_val key, record;
  int code = mdb_cursor_get(reader->records, &key, &record, MDB_FIRST);
  while (code == 0) {
    const record_head *head = read_head(record);
    if (head == NULL) break;
    *sum += head->duration;
    code = mdb_cursor_get(reader->records, &key, &record, MDB_NEXT);
  }
  return end_walk(reader, code);
}

int raw_reader_count_type(raw_reader *reader, int64_t type, size_t *count) {
  TRY(begin_read(reader, reader->trees[tree_type_updated]));
  int code = count_entries(reader, type, count);
  mdb_txn_reset(reader->snapshot);
  return code;
}

int raw_reader_group_by_type(raw_reader *reader, size_t counts[3]) {
  TRY(begin_read(reader, reader->trees[tree_type_updated]));
  int code = 0;
  for (int64_t type = 1; type <= 3 && code == 0; type++) {
    code = count_entries(reader, type, &counts[type - 1]);
  }
  mdb_txn_reset(reader->snapshot);
  return code;
}

static int list(
    raw_reader *reader, episode_list list, episode_text path, size_t limit, episode_result *result,
    fetch *fetch) {
  static const int trees[] = {
    [episode_list_recent] = tree_updated, [episode_list_favorites] = tree_favorite,
    [episode_list_watch_later] = tree_watch_later, [episode_list_free] = tree_type_updated,
    [episode_list_history] = tree_watched, [episode_list_path] = tree_path,
  };
  result->count = result->used = 0;
  if (limit > result->capacity) return EINVAL;
  entry leading = {.length = 0};
  if (list == episode_list_free) leading = (entry){.length = 1, .bytes = {1}};
  if (list == episode_list_path) encode_leading_text(path, &leading);
  TRY(begin_read(reader, reader->trees[trees[list]]));
  int code = list_entries(reader, trees[list], &leading, limit, result, fetch);
  mdb_txn_reset(reader->snapshot);
  return code;
}

/// Begins a new snapshot and renews the cursor of the read.
static int begin_read(raw_reader *reader, MDB_cursor *cursor) {
  TRY(mdb_txn_renew(reader->snapshot));
  return mdb_cursor_renew(reader->snapshot, cursor);
}

static int list_entries(
    raw_reader *reader, int tree, entry *leading, size_t limit, episode_result *result,
    fetch *fetch) {
  bool started = false;
  while (result->count < limit) {
    MDB_val key;
    int code = next_entry(reader->trees[tree], leading, &started, &key);
    if (code == MDB_NOTFOUND) return 0;
    TRY(code);
    TRY(fetch(reader, entry_object_id(key), result));
  }
  return 0;
}

static int fetch_row(raw_reader *reader, uint64_t object_id, episode_result *result) {
  MDB_val key = record_key(&object_id), record;
  TRY(mdb_get(reader->snapshot, reader->store->records, &key, &record));
  episode_row *row = &result->rows[result->count];
  if (record.mv_size > longest_record || !read_record(record, row)) return MDB_CORRUPTED;
  row->id = episode_result_copy(result, row->id);
  row->title = episode_result_copy(result, row->title);
  row->summary = episode_result_copy(result, row->summary);
  row->url = episode_result_copy(result, row->url);
  row->path_id = episode_result_copy(result, row->path_id);
  result->count += 1;
  return 0;
}

static int fetch_card(raw_reader *reader, uint64_t object_id, episode_result *result) {
  MDB_val key = record_key(&object_id), record;
  TRY(mdb_get(reader->snapshot, reader->store->records, &key, &record));
  episode_card *card = &result->cards[result->count];
  if (!read_card(record, &card->title, &card->updated_at)) return MDB_CORRUPTED;
  card->title = episode_result_copy(result, card->title);
  result->count += 1;
  return 0;
}

static int count_entries(raw_reader *reader, int64_t type, size_t *count) {
  entry leading = {.length = 1, .bytes = {(uint8_t)type}};
  bool started = false;
  MDB_val key;
  int code;
  *count = 0;
  while ((code = next_entry(reader->trees[tree_type_updated], &leading, &started, &key)) == 0) {
    *count += 1;
  }
  return code == MDB_NOTFOUND ? 0 : code;
}

/// Ends a read. A loop that stopped before the end, with code 0, has found a truncated record.
static int end_walk(raw_reader *reader, int code) {
  mdb_txn_reset(reader->snapshot);
  if (code == 0) return MDB_CORRUPTED;
  return code == MDB_NOTFOUND ? 0 : code;
}
