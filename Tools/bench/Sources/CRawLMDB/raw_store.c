#include <errno.h>
#include <stdlib.h>

#include "raw_trees.h"

static int open_environment(raw_store *store, const char *folder);
static int open_trees(raw_store *store, MDB_txn *transaction);

const char *raw_error(int code) { return mdb_strerror(code); }

int raw_store_open(const char *folder, raw_options options, raw_store **opened) {
  raw_store *store = calloc(1, sizeof *store);
  if (store == NULL) return ENOMEM;
  store->options = options;
  int code = open_environment(store, folder);
  if (code != 0) {
    raw_store_close(store);
    return code;
  }
  *opened = store;
  return 0;
}

void raw_store_close(raw_store *store) {
  if (store->snapshot != NULL) {
    for (int tree = 0; tree < tree_count; tree++) {
      if (store->cursors[tree] != NULL) mdb_cursor_close(store->cursors[tree]);
    }
    mdb_txn_abort(store->snapshot);
  }
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

static int open_environment(raw_store *store, const char *folder) {
  TRY(mdb_env_create(&store->environment));
  TRY(mdb_env_set_mapsize(store->environment, (size_t)8 << 30));
  TRY(mdb_env_set_maxdbs(store->environment, tree_count + 2));
  TRY(mdb_env_open(store->environment, folder, MDB_NOTLS, 0600));
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
  unsigned record_flags = MDB_CREATE | (store->options.integer_key ? MDB_INTEGERKEY : 0);
  TRY(mdb_dbi_open(transaction, "records", record_flags, &store->records));
  for (int tree = 0; tree < tree_count; tree++) {
    unsigned flags = MDB_CREATE | (is_partitioned(store, tree) ? MDB_DUPSORT | MDB_DUPFIXED : 0);
    TRY(mdb_dbi_open(transaction, names[tree], flags, &store->trees[tree]));
  }
  MDB_cursor *cursor;
  MDB_val key, data;
  TRY(mdb_cursor_open(transaction, store->records, &cursor));
  int code = mdb_cursor_get(cursor, &key, &data, MDB_LAST);
  if (code == 0) {
    uint64_t last;
    if (store->options.integer_key) __builtin_memcpy(&last, key.mv_data, 8);
    else last = read_big_endian(key.mv_data);
    store->next_object_id = last + 1;
  } else if (code == MDB_NOTFOUND) {
    store->next_object_id = 1;
    code = 0;
  }
  mdb_cursor_close(cursor);
  return code;
}
