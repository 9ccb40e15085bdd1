#include "sqlite_statements.h"

#include <stdio.h>

#define COLUMNS                                                                       \
  "id, title, summary, type, duration, url, pathID, position, publishedAt, updatedAt," \
  " favoriteAt, watchLaterAt, watchedAt, progress"

static int prepare(sqlite_store *store, int place, const char *text);

static const char *const texts[statement_list] = {
  [statement_begin] = "BEGIN IMMEDIATE",
  [statement_commit] = "COMMIT",
  [statement_rollback] = "ROLLBACK",
  [statement_insert] = "INSERT INTO episode (" COLUMNS ")"
                       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
  [statement_find] =
      "SELECT rowid, type, pathID, position, favoriteAt, watchedAt FROM episode WHERE id = ?1",
  [statement_update] =
      "UPDATE episode SET title = ?2, summary = ?3, type = ?4, duration = ?5, url = ?6,"
      " pathID = ?7, position = ?8, publishedAt = ?9, updatedAt = ?10, favoriteAt = ?11,"
      " watchLaterAt = ?12, watchedAt = ?13, progress = ?14 WHERE rowid = ?1",
  // SQLite rewrites the entries of an index if one of its columns is assigned, even without a
  // change.
  [statement_update_unindexed] =
      "UPDATE episode SET title = ?2, summary = ?3, duration = ?5, url = ?6, publishedAt = ?9,"
      " updatedAt = ?10, watchLaterAt = ?12, progress = ?14 WHERE rowid = ?1",
  [statement_set_progress] = "UPDATE episode SET progress = ?2 WHERE id = ?1",
  [statement_update_type] = "UPDATE episode SET progress = ?2 WHERE type = ?1",
  [statement_delete_before] = "DELETE FROM episode WHERE updatedAt < ?1",
  [statement_get] = "SELECT " COLUMNS " FROM episode WHERE id = ?1",
  [statement_scan] = "SELECT count(*) FROM episode WHERE duration >= ?1 AND progress > ?2",
  [statement_sum] = "SELECT sum(duration) FROM episode",
  [statement_count] = "SELECT count(*) FROM episode WHERE type = ?1",
  [statement_group] = "SELECT type, count(*) FROM episode GROUP BY type",
};

static const char *const conditions[] = {
  [episode_list_recent] = "ORDER BY updatedAt DESC",
  [episode_list_favorites] = "WHERE favoriteAt IS NOT NULL ORDER BY favoriteAt DESC",
  [episode_list_watch_later] = "WHERE watchLaterAt IS NOT NULL ORDER BY watchLaterAt DESC",
  [episode_list_free] = "WHERE type = 1 ORDER BY updatedAt DESC",
  [episode_list_history] = "WHERE watchedAt IS NOT NULL ORDER BY watchedAt DESC",
  [episode_list_path] = "WHERE pathID = ?2 ORDER BY position",
};

int prepare_statements(sqlite_store *store) {
  for (int place = 0; place < statement_list; place++) TRY(prepare(store, place, texts[place]));
  for (int list = episode_list_recent; list <= episode_list_path; list++) {
    char text[256];
    snprintf(text, sizeof text, "SELECT " COLUMNS " FROM episode %s LIMIT ?1", conditions[list]);
    TRY(prepare(store, statement_list + list, text));
    snprintf(
        text, sizeof text, "SELECT title, updatedAt FROM episode %s LIMIT ?1", conditions[list]);
    TRY(prepare(store, statement_cards + list, text));
  }
  return 0;
}

static int prepare(sqlite_store *store, int place, const char *text) {
  return sqlite3_prepare_v3(
      store->connection, text, -1, SQLITE_PREPARE_PERSISTENT, &store->prepared[place], NULL);
}
