#include <math.h>
#include <string.h>

#include "sqlite_statements.h"

_Static_assert(sqlite_store_not_found == SQLITE_NOTFOUND, "the header repeats SQLite's code");

static int bind_list(
    sqlite3_stmt *statement, episode_list list, episode_text path, size_t limit);
static void read_row(sqlite3_stmt *statement, episode_result *result);
static void read_card(sqlite3_stmt *statement, episode_result *result);
static int read_number(sqlite3_stmt *statement, int64_t *number);
static episode_text text(sqlite3_stmt *statement, int column, episode_result *result);
static double date(sqlite3_stmt *statement, int column);
static int end(sqlite3_stmt *statement, int code);

int sqlite_store_get(sqlite_store *store, episode_text id, episode_result *result) {
  sqlite3_stmt *statement = store->prepared[statement_get];
  result->count = result->used = 0;
  TRY(sqlite3_bind_text(statement, 1, id.bytes, (int)id.length, SQLITE_STATIC));
  int code = sqlite3_step(statement);
  if (code == SQLITE_ROW) read_row(statement, result);
  sqlite3_reset(statement);
  return code == SQLITE_ROW ? 0 : code == SQLITE_DONE ? sqlite_store_not_found : code;
}

int sqlite_store_list(
    sqlite_store *store, episode_list list, episode_text path, size_t limit,
    episode_result *result) {
  sqlite3_stmt *statement = store->prepared[statement_list + list];
  result->count = result->used = 0;
  if (limit > result->capacity) return SQLITE_TOOBIG;
  TRY(bind_list(statement, list, path, limit));
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) read_row(statement, result);
  return end(statement, code);
}

int sqlite_store_cards(
    sqlite_store *store, episode_list list, episode_text path, size_t limit,
    episode_result *result) {
  sqlite3_stmt *statement = store->prepared[statement_cards + list];
  result->count = result->used = 0;
  if (limit > result->capacity) return SQLITE_TOOBIG;
  TRY(bind_list(statement, list, path, limit));
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) read_card(statement, result);
  return end(statement, code);
}

int sqlite_store_scan(sqlite_store *store, episode_filter filter, size_t *matches) {
  sqlite3_stmt *statement = store->prepared[statement_scan];
  int64_t number;
  TRY(sqlite3_bind_int64(statement, 1, filter.duration_at_least));
  TRY(sqlite3_bind_double(statement, 2, filter.progress_above));
  TRY(read_number(statement, &number));
  *matches = (size_t)number;
  return 0;
}

int sqlite_store_sum_duration(sqlite_store *store, int64_t *sum) {
  return read_number(store->prepared[statement_sum], sum);
}

int sqlite_store_count_type(sqlite_store *store, int64_t type, size_t *count) {
  sqlite3_stmt *statement = store->prepared[statement_count];
  int64_t number;
  TRY(sqlite3_bind_int64(statement, 1, type));
  TRY(read_number(statement, &number));
  *count = (size_t)number;
  return 0;
}

int sqlite_store_group_by_type(sqlite_store *store, size_t counts[3]) {
  sqlite3_stmt *statement = store->prepared[statement_group];
  memset(counts, 0, 3 * sizeof *counts);
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    int64_t type = sqlite3_column_int64(statement, 0);
    if (type < 1 || type > 3) continue;
    counts[type - 1] = (size_t)sqlite3_column_int64(statement, 1);
  }
  return end(statement, code);
}

static int bind_list(
    sqlite3_stmt *statement, episode_list list, episode_text path, size_t limit) {
  TRY(sqlite3_bind_int64(statement, 1, (int64_t)limit));
  if (list != episode_list_path) return 0;
  return sqlite3_bind_text(statement, 2, path.bytes, (int)path.length, SQLITE_STATIC);
}

static void read_row(sqlite3_stmt *statement, episode_result *result) {
  result->rows[result->count++] = (episode_row){
    .id = text(statement, 0, result), .title = text(statement, 1, result),
    .summary = text(statement, 2, result), .type = sqlite3_column_int64(statement, 3),
    .duration = sqlite3_column_int64(statement, 4), .url = text(statement, 5, result),
    .path_id = text(statement, 6, result), .position = sqlite3_column_int64(statement, 7),
    .published_at = date(statement, 8), .updated_at = date(statement, 9),
    .favorite_at = date(statement, 10), .watch_later_at = date(statement, 11),
    .watched_at = date(statement, 12), .progress = sqlite3_column_double(statement, 13),
  };
}

static void read_card(sqlite3_stmt *statement, episode_result *result) {
  result->cards[result->count++] = (episode_card){
    .title = text(statement, 0, result), .updated_at = date(statement, 1),
  };
}

static int read_number(sqlite3_stmt *statement, int64_t *number) {
  int code = sqlite3_step(statement);
  if (code == SQLITE_ROW) *number = sqlite3_column_int64(statement, 0);
  sqlite3_reset(statement);
  return code == SQLITE_ROW ? 0 : code;
}

static episode_text text(sqlite3_stmt *statement, int column, episode_result *result) {
  const char *bytes = (const char *)sqlite3_column_text(statement, column);
  uint32_t length = (uint32_t)sqlite3_column_bytes(statement, column);
  return episode_result_copy(result, (episode_text){bytes, length});
}

static double date(sqlite3_stmt *statement, int column) {
  bool is_absent = sqlite3_column_type(statement, column) == SQLITE_NULL;
  return is_absent ? (double)NAN : sqlite3_column_double(statement, column);
}

static int end(sqlite3_stmt *statement, int code) {
  sqlite3_reset(statement);
  return code == SQLITE_DONE ? 0 : code;
}
