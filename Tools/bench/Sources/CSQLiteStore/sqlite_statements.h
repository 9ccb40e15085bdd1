// The statements of a store, prepared when it is opened. Private to this target.

#ifndef SQLITE_STATEMENTS_H
#define SQLITE_STATEMENTS_H

#include <sqlite3.h>

#include "sqlite_store.h"

enum {
  statement_begin,
  statement_commit,
  statement_rollback,
  statement_insert,
  statement_find,
  statement_update,
  statement_update_unindexed,
  statement_set_progress,
  statement_update_type,
  statement_delete_before,
  statement_get,
  statement_scan,
  statement_sum,
  statement_count,
  statement_group,
  statement_list,                                       // and one for each list
  statement_cards = statement_list + episode_list_path + 1,  // and one for each list
  statement_count_all = statement_cards + episode_list_path + 1,
};

struct sqlite_store {
  sqlite3 *connection;
  sqlite3_stmt *prepared[statement_count_all];
};

#define TRY(call)                       \
  do {                                  \
    int try_code = (call);              \
    if (try_code != 0) return try_code; \
  } while (0)

int prepare_statements(sqlite_store *store);

#endif
