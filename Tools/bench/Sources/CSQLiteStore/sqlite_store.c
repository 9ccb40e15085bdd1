#include <stdlib.h>

#include "sqlite_statements.h"

static const char *const settings =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = FULL;"
    "PRAGMA cache_size = -262144;"
    "PRAGMA temp_store = MEMORY;";

static const char *const table =
    "CREATE TABLE IF NOT EXISTS episode ("
    " id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL, summary TEXT NOT NULL,"
    " type INTEGER NOT NULL, duration INTEGER NOT NULL, url TEXT NOT NULL, pathID TEXT,"
    " position INTEGER, publishedAt REAL NOT NULL, updatedAt REAL NOT NULL, favoriteAt REAL,"
    " watchLaterAt REAL, watchedAt REAL, progress REAL NOT NULL);";

static const char *const indexes =
    "CREATE INDEX IF NOT EXISTS byUpdate ON episode (updatedAt);"
    "CREATE INDEX IF NOT EXISTS byType ON episode (type, updatedAt);"
    "CREATE INDEX IF NOT EXISTS byWatchLater ON episode (watchLaterAt)"
    " WHERE watchLaterAt IS NOT NULL;"
    "CREATE INDEX IF NOT EXISTS byFavorite ON episode (favoriteAt) WHERE favoriteAt IS NOT NULL;"
    "CREATE INDEX IF NOT EXISTS byWatched ON episode (watchedAt) WHERE watchedAt IS NOT NULL;"
    "CREATE INDEX IF NOT EXISTS byPath ON episode (pathID, position) WHERE pathID IS NOT NULL;";

static const char *const no_indexes =
    "DROP INDEX byUpdate; DROP INDEX byType; DROP INDEX byWatchLater; DROP INDEX byFavorite;"
    "DROP INDEX byWatched; DROP INDEX byPath;";

static int open_connection(sqlite_store *store, const char *path);

const char *sqlite_store_error(int code) { return sqlite3_errstr(code); }

int sqlite_store_open(const char *path, sqlite_store **opened) {
  sqlite_store *store = calloc(1, sizeof *store);
  if (store == NULL) return SQLITE_NOMEM;
  int code = open_connection(store, path);
  if (code != 0) {
    sqlite_store_close(store);
    return code;
  }
  *opened = store;
  return 0;
}

void sqlite_store_close(sqlite_store *store) {
  for (int place = 0; place < statement_count_all; place++) {
    sqlite3_finalize(store->prepared[place]);
  }
  sqlite3_close(store->connection);
  free(store);
}

int sqlite_store_drop_indexes(sqlite_store *store) {
  return sqlite3_exec(store->connection, no_indexes, NULL, NULL, NULL);
}

int sqlite_store_create_indexes(sqlite_store *store) {
  return sqlite3_exec(store->connection, indexes, NULL, NULL, NULL);
}

int sqlite_store_map(sqlite_store *store) {
  // The most that SQLite maps.
  return sqlite3_exec(store->connection, "PRAGMA mmap_size = 2147418112", NULL, NULL, NULL);
}

int sqlite_store_checkpoint(sqlite_store *store) {
  return sqlite3_wal_checkpoint_v2(
      store->connection, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

static int open_connection(sqlite_store *store, const char *path) {
  // One thread at a time uses the connection, so SQLite need not lock.
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  TRY(sqlite3_open_v2(path, &store->connection, flags, NULL));
  TRY(sqlite3_busy_timeout(store->connection, 5000));
  TRY(sqlite3_exec(store->connection, settings, NULL, NULL, NULL));
  TRY(sqlite3_exec(store->connection, table, NULL, NULL, NULL));
  TRY(sqlite_store_create_indexes(store));
  return prepare_statements(store);
}
