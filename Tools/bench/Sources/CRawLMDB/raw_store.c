#include <errno.h>
#include <stdlib.h>

#include "raw_trees.h"

static int open_environment(raw_store *store, const char *folder);
static int open_trees(raw_store *store, MDB_txn *transaction);
static int open_cursors(raw_reader *reader);

const char *raw_error(int code) { return mdb_strerror(code); }

int raw_store_open(const char *folder, raw_store **opened) {
  raw_store *store = calloc(1, sizeof *store);
  if (store == NULL) return ENOMEM;
  int code = open_environment(store, folder);
  if (code != 0) {
    raw_store_close(store);
    return code;
  }
  *opened = store;
  return 0;
}

void raw_store_close(raw_store *store) {
  mdb_env_close(store->environment);
  free(store);
}

int raw_store_size(raw_store *store, size_t *bytes) {
  MDB_envinfo info;
  MDB_stat stat;
  TRY(mdb_env_info(store->environment, &info));
  TRY(mdb_env_stat(store->environment, &stat));
  *bytes = (info.me_last_pgno + 1) * stat.ms_psize;
  return 0;
}

int raw_reader_open(raw_store *store, raw_reader **opened) {
  raw_reader *reader = calloc(1, sizeof *reader);
  if (reader == NULL) return ENOMEM;
  reader->store = store;
  int code = mdb_txn_begin(store->environment, NULL, MDB_RDONLY, &reader->snapshot);
  if (code == 0) code = open_cursors(reader);
  if (code != 0) {
    raw_reader_close(reader);
    return code;
  }
  mdb_txn_reset(reader->snapshot);
  *opened = reader;
  return 0;
}

void raw_reader_close(raw_reader *reader) {
  if (reader->records != NULL) mdb_cursor_close(reader->records);
  for (int tree = 0; tree < tree_count; tree++) {
    if (reader->trees[tree] != NULL) mdb_cursor_close(reader->trees[tree]);
  }
  if (reader->snapshot != NULL) mdb_txn_abort(reader->snapshot);
  free(reader);
}

static int open_environment(raw_store *store, const char *folder) {
  TRY(mdb_env_create(&store->environment));
  TRY(mdb_env_set_mapsize(store->environment, (size_t)8 << 30));
  TRY(mdb_env_set_maxdbs(store->environment, tree_count + 3));
  // Without read-ahead, a page that is not in memory is one page to read, not 128 KB.
  TRY(mdb_env_open(store->environment, folder, MDB_NOTLS | MDB_NORDAHEAD, 0600));
  MDB_txn *transaction;
  TRY(mdb_txn_begin(store->environment, NULL, 0, &transaction));
  int code = open_trees(store, transaction);
  if (code != 0) {
    mdb_txn_abort(transaction);
    return code;
  }
  return mdb_txn_commit(transaction);
}

static int open_trees(raw_store *store, MDB_txn *transaction) {
  static const char *const names[tree_count] = {
    [tree_id] = "id", [tree_updated] = "updated", [tree_type_updated] = "type-updated",
    [tree_watch_later] = "watch-later", [tree_favorite] = "favorite", [tree_watched] = "watched",
    [tree_path] = "path",
  };
  TRY(mdb_dbi_open(transaction, "records", MDB_CREATE | MDB_INTEGERKEY, &store->records));
  TRY(mdb_dbi_open(transaction, "history", MDB_CREATE, &store->history));
  for (int tree = 0; tree < tree_count; tree++) {
    TRY(mdb_dbi_open(transaction, names[tree], MDB_CREATE, &store->trees[tree]));
  }
  MDB_cursor *cursor;
  MDB_val key, data;
  TRY(mdb_cursor_open(transaction, store->records, &cursor));
  int code = mdb_cursor_get(cursor, &key, &data, MDB_LAST);
  store->next_object_id = code == 0 ? record_id(key) + 1 : 1;
  mdb_cursor_close(cursor);
  return code == MDB_NOTFOUND ? 0 : code;
}

static int open_cursors(raw_reader *reader) {
  TRY(mdb_cursor_open(reader->snapshot, reader->store->records, &reader->records));
  for (int tree = 0; tree < tree_count; tree++) {
    TRY(mdb_cursor_open(reader->snapshot, reader->store->trees[tree], &reader->trees[tree]));
  }
  return 0;
}
