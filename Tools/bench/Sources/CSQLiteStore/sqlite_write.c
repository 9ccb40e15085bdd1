#include <math.h>
#include <string.h>

#include "sqlite_statements.h"

typedef int write_row(sqlite_store *store, const episode_row *row);

static int write_rows(
    sqlite_store *store, const episode_row *rows, size_t count, write_row *write);
static int insert_row(sqlite_store *store, const episode_row *row);
static int upsert_row(sqlite_store *store, const episode_row *row);
static bool has_same_keys(sqlite3_stmt *found, const episode_row *row);
static bool is_same_date(sqlite3_stmt *found, int column, double date);
static int bind_row(sqlite3_stmt *statement, const episode_row *row);
static int bind_text(sqlite3_stmt *statement, int place, episode_text text);
static int bind_date(sqlite3_stmt *statement, int place, double date);
static int run(sqlite3_stmt *statement);
static int run_counting(sqlite_store *store, sqlite3_stmt *statement, size_t *changed);

int sqlite_store_insert(sqlite_store *store, const episode_row *rows, size_t count) {
  return write_rows(store, rows, count, insert_row);
}

int sqlite_store_upsert(sqlite_store *store, const episode_row *rows, size_t count) {
  return write_rows(store, rows, count, upsert_row);
}

int sqlite_store_set_progress(sqlite_store *store, episode_text id, double progress) {
  sqlite3_stmt *statement = store->prepared[statement_set_progress];
  TRY(bind_text(statement, 1, id));
  TRY(sqlite3_bind_double(statement, 2, progress));
  return run(statement);
}

int sqlite_store_update_type(
    sqlite_store *store, int64_t type, double progress, size_t *updated) {
  sqlite3_stmt *statement = store->prepared[statement_update_type];
  TRY(sqlite3_bind_int64(statement, 1, type));
  TRY(sqlite3_bind_double(statement, 2, progress));
  return run_counting(store, statement, updated);
}

int sqlite_store_delete_before(sqlite_store *store, double date, size_t *deleted) {
  sqlite3_stmt *statement = store->prepared[statement_delete_before];
  TRY(sqlite3_bind_double(statement, 1, date));
  return run_counting(store, statement, deleted);
}

static int write_rows(
    sqlite_store *store, const episode_row *rows, size_t count, write_row *write) {
  TRY(run(store->prepared[statement_begin]));
  int code = 0;
  for (size_t index = 0; index < count && code == 0; index++) code = write(store, &rows[index]);
  if (code == 0) code = run(store->prepared[statement_commit]);
  // A failed commit is rolled back. The first error is the one to return.
  if (code != 0) run(store->prepared[statement_rollback]);
  return code;
}

static int insert_row(sqlite_store *store, const episode_row *row) {
  sqlite3_stmt *insert = store->prepared[statement_insert];
  TRY(bind_text(insert, 1, row->id));
  TRY(bind_row(insert, row));
  return run(insert);
}

/// Upserts a row. Indexed columns that rarely change are assigned only if they changed.
static int upsert_row(sqlite_store *store, const episode_row *row) {
  sqlite3_stmt *find = store->prepared[statement_find];
  TRY(bind_text(find, 1, row->id));
  int code = sqlite3_step(find);
  if (code != SQLITE_ROW) {
    sqlite3_reset(find);
    return code == SQLITE_DONE ? insert_row(store, row) : code;
  }
  int64_t rowid = sqlite3_column_int64(find, 0);
  bool is_narrow = has_same_keys(find, row);
  sqlite3_reset(find);
  sqlite3_stmt *update =
      store->prepared[is_narrow ? statement_update_unindexed : statement_update];
  TRY(sqlite3_bind_int64(update, 1, rowid));
  TRY(bind_row(update, row));
  return run(update);
}

static bool has_same_keys(sqlite3_stmt *found, const episode_row *row) {
  const void *path = sqlite3_column_text(found, 2);
  size_t length = (size_t)sqlite3_column_bytes(found, 2);
  bool has_same_path = length == row->path_id.length
      && (length == 0 || memcmp(path, row->path_id.bytes, length) == 0)
      && (length == 0 || sqlite3_column_int64(found, 3) == row->position);
  return has_same_path && sqlite3_column_int64(found, 1) == row->type
      && is_same_date(found, 4, row->favorite_at) && is_same_date(found, 5, row->watched_at);
}

static bool is_same_date(sqlite3_stmt *found, int column, double date) {
  bool is_absent = sqlite3_column_type(found, column) == SQLITE_NULL;
  return is_absent ? isnan(date) : sqlite3_column_double(found, column) == date;
}

/// Binds all columns except the first. The caller's strings outlive the run of the statement.
static int bind_row(sqlite3_stmt *statement, const episode_row *row) {
  TRY(bind_text(statement, 2, row->title));
  TRY(bind_text(statement, 3, row->summary));
  TRY(sqlite3_bind_int64(statement, 4, row->type));
  TRY(sqlite3_bind_int64(statement, 5, row->duration));
  TRY(bind_text(statement, 6, row->url));
  TRY(bind_text(statement, 7, row->path_id));
  if (row->path_id.bytes == NULL) TRY(sqlite3_bind_null(statement, 8));
  else TRY(sqlite3_bind_int64(statement, 8, row->position));
  TRY(sqlite3_bind_double(statement, 9, row->published_at));
  TRY(sqlite3_bind_double(statement, 10, row->updated_at));
  TRY(bind_date(statement, 11, row->favorite_at));
  TRY(bind_date(statement, 12, row->watch_later_at));
  TRY(bind_date(statement, 13, row->watched_at));
  return sqlite3_bind_double(statement, 14, row->progress);
}

static int bind_text(sqlite3_stmt *statement, int place, episode_text text) {
  return text.bytes == NULL
      ? sqlite3_bind_null(statement, place)
      : sqlite3_bind_text(statement, place, text.bytes, (int)text.length, SQLITE_STATIC);
}

static int bind_date(sqlite3_stmt *statement, int place, double date) {
  return isnan(date) ? sqlite3_bind_null(statement, place)
                     : sqlite3_bind_double(statement, place, date);
}

static int run(sqlite3_stmt *statement) {
  int code = sqlite3_step(statement);
  sqlite3_reset(statement);
  return code == SQLITE_DONE ? 0 : code;
}

static int run_counting(sqlite_store *store, sqlite3_stmt *statement, size_t *changed) {
  TRY(run(statement));
  *changed = (size_t)sqlite3_changes(store->connection);
  return 0;
}
