#include "raw_commit.h"

#include <string.h>

static int note_upserts(commit *commit, const episode_row *rows, size_t count);
static bool is_same(MDB_val record, const episode_row *row);

int raw_store_insert(raw_store *store, const episode_row *rows, size_t count) {
  commit commit;
  TRY(commit_begin(&commit, store, count));
  int code = 0;
  for (size_t index = 0; index < count && code == 0; index++) {
    code = commit_note(&commit, store->next_object_id++, NULL, &rows[index]);
  }
  return commit_end(&commit, code);
}

int raw_store_upsert(raw_store *store, const episode_row *rows, size_t count) {
  commit commit;
  TRY(commit_begin(&commit, store, count));
  return commit_end(&commit, note_upserts(&commit, rows, count));
}

static int note_upserts(commit *commit, const episode_row *rows, size_t count) {
  raw_store *store = commit->store;
  MDB_cursor *cursor;
  TRY(mdb_cursor_open(commit->transaction, store->trees[tree_id], &cursor));
  for (size_t index = 0; index < count; index++) {
    uint64_t object_id;
    int code = find_object_id(cursor, rows[index].id, &object_id);
    if (code == MDB_NOTFOUND) {
      TRY(commit_note(commit, store->next_object_id++, NULL, &rows[index]));
      continue;
    }
    TRY(code);
    MDB_val key = record_key(&object_id), record;
    episode_row old;
    TRY(mdb_get(commit->transaction, store->records, &key, &record));
    if (is_same(record, &rows[index])) continue;
    if (!read_record(record, &old)) return MDB_CORRUPTED;
    TRY(commit_note(commit, object_id, &old, &rows[index]));
  }
  mdb_cursor_close(cursor);
  return 0;
}

static bool is_same(MDB_val record, const episode_row *row) {
  uint8_t bytes[longest_record];
  return encode_record(row, bytes) == record.mv_size
      && memcmp(bytes, record.mv_data, record.mv_size) == 0;
}
