#include "sqlite_queue.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>

#define TRY(call)                       \
  do {                                  \
    int try_code = (call);              \
    if (try_code != 0) return try_code; \
  } while (0)

static const char *const settings =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = FULL;"
    "PRAGMA cache_size = -65536;"  // 64 MiB, so that no claim waits for a page
    "PRAGMA temp_store = MEMORY;";

static const char *const schema =
    "CREATE TABLE IF NOT EXISTS jobs ("
    " id INTEGER PRIMARY KEY,"
    " kind TEXT NOT NULL,"
    " queue TEXT NOT NULL,"
    " priority INTEGER NOT NULL DEFAULT 0,"
    " state TEXT NOT NULL DEFAULT 'ready',"
    " run_at INTEGER NOT NULL,"
    " payload BLOB NOT NULL,"
    " attempts INTEGER NOT NULL DEFAULT 0,"
    " claim INTEGER NOT NULL DEFAULT 0,"
    " started_at INTEGER,"
    " finished_at INTEGER"
    ") STRICT;"
    "CREATE INDEX IF NOT EXISTS ready ON jobs (queue, priority DESC, run_at, id)"
    " WHERE state = 'ready';"
    // Of the jobs that a dead worker has left, and of those that may be removed.
    "CREATE INDEX IF NOT EXISTS running ON jobs (started_at) WHERE state = 'running';"
    "CREATE INDEX IF NOT EXISTS finished ON jobs (finished_at) WHERE state = 'finished';";

enum { statement_begin, statement_commit, statement_rollback, statement_enqueue,
       statement_claim_one, statement_claim, statement_finish, statement_count, statements };

static const char *const texts[statements] = {
  [statement_begin] = "BEGIN IMMEDIATE",
  [statement_commit] = "COMMIT",
  [statement_rollback] = "ROLLBACK",
  [statement_enqueue] =
      "INSERT INTO jobs (kind, queue, run_at, payload) VALUES ('load', 'default', ?1, ?2)",
  [statement_claim_one] =
      "UPDATE jobs SET state = 'running', attempts = attempts + 1, claim = claim + 1,"
      " started_at = ?1"
      " WHERE id = (SELECT id FROM jobs WHERE state = 'ready' AND queue = 'default'"
      "  AND run_at <= ?1 ORDER BY priority DESC, run_at, id LIMIT 1)"
      " RETURNING id, claim, kind, payload",
  [statement_claim] =
      "UPDATE jobs SET state = 'running', attempts = attempts + 1, claim = claim + 1,"
      " started_at = ?1"
      " WHERE id IN (SELECT id FROM jobs WHERE state = 'ready' AND queue = 'default'"
      "  AND run_at <= ?1 ORDER BY priority DESC, run_at, id LIMIT ?2)"
      " RETURNING id, claim, kind, payload",
  [statement_finish] =
      ("UPDATE jobs SET state = 'finished', finished_at = ?1"
       " WHERE id = ?2 AND state = 'running' AND claim = ?3"),
  [statement_count] = "SELECT count(*) FROM jobs WHERE state = ?1",
};

struct sqlite_queue {
  sqlite3 *connection;
  sqlite3_stmt *prepared[statements];
  pthread_mutex_t lock;
};

static int prepare(sqlite_queue *queue, const char *path);
static int enqueue(
    sqlite_queue *queue, size_t count, int64_t now, const void *payload, size_t length);
static int claim(
    sqlite_queue *queue, size_t limit, int64_t now, sqlite_job_claim *claims, size_t *count);
static int finish(
    sqlite_queue *queue, const sqlite_job_claim *claims, size_t count, int64_t now,
    size_t *finished);
static int count_state(sqlite_queue *queue, const char *state, size_t *count);
static int run(sqlite3_stmt *statement);
static int end(sqlite_queue *queue, bool transaction, int code);

const char *sqlite_queue_error(int code) { return sqlite3_errstr(code); }

int sqlite_queue_open(const char *path, sqlite_queue **opened) {
  sqlite_queue *queue = calloc(1, sizeof *queue);
  if (queue == NULL) return SQLITE_NOMEM;
  int code = pthread_mutex_init(&queue->lock, NULL) == 0 ? prepare(queue, path) : SQLITE_NOMEM;
  if (code != 0) {
    sqlite_queue_close(queue);
    return code;
  }
  *opened = queue;
  return 0;
}

void sqlite_queue_close(sqlite_queue *queue) {
  for (int place = 0; place < statements; place++) sqlite3_finalize(queue->prepared[place]);
  sqlite3_close(queue->connection);
  pthread_mutex_destroy(&queue->lock);
  free(queue);
}

int sqlite_queue_enqueue(
    sqlite_queue *queue, size_t count, int64_t now, const void *payload, size_t length) {
  pthread_mutex_lock(&queue->lock);
  int code = enqueue(queue, count, now, payload, length);
  pthread_mutex_unlock(&queue->lock);
  return code;
}

int sqlite_queue_claim(
    sqlite_queue *queue, size_t limit, int64_t now, sqlite_job_claim *claims, size_t *count) {
  pthread_mutex_lock(&queue->lock);
  int code = claim(queue, limit, now, claims, count);
  pthread_mutex_unlock(&queue->lock);
  return code;
}

int sqlite_queue_finish(
    sqlite_queue *queue, const sqlite_job_claim *claims, size_t count, int64_t now,
    size_t *finished) {
  pthread_mutex_lock(&queue->lock);
  int code = finish(queue, claims, count, now, finished);
  pthread_mutex_unlock(&queue->lock);
  return code;
}

int sqlite_queue_count(sqlite_queue *queue, sqlite_job_state state, size_t *count) {
  static const char *const names[] = {"ready", "running", "finished"};
  pthread_mutex_lock(&queue->lock);
  int code = count_state(queue, names[state], count);
  pthread_mutex_unlock(&queue->lock);
  return code;
}

static int prepare(sqlite_queue *queue, const char *path) {
  // The mutex of the queue makes that of SQLite unnecessary.
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  TRY(sqlite3_open_v2(path, &queue->connection, flags, NULL));
  TRY(sqlite3_busy_timeout(queue->connection, 5000));
  TRY(sqlite3_exec(queue->connection, settings, NULL, NULL, NULL));
  TRY(sqlite3_exec(queue->connection, schema, NULL, NULL, NULL));
  for (int place = 0; place < statements; place++) {
    TRY(sqlite3_prepare_v3(
        queue->connection, texts[place], -1, SQLITE_PREPARE_PERSISTENT, &queue->prepared[place],
        NULL));
  }
  return 0;
}

/// A single statement is its own transaction, which is a little faster than an explicit one.
static int enqueue(
    sqlite_queue *queue, size_t count, int64_t now, const void *payload, size_t length) {
  bool transaction = count > 1;
  if (transaction) TRY(run(queue->prepared[statement_begin]));
  sqlite3_stmt *statement = queue->prepared[statement_enqueue];
  int code = 0;
  for (size_t index = 0; index < count && code == 0; index++) {
    code = sqlite3_bind_int64(statement, 1, now);
    if (code == 0) {
      code = sqlite3_bind_blob64(statement, 2, payload, length, SQLITE_STATIC);
    }
    if (code == 0) code = run(statement);
  }
  sqlite3_clear_bindings(statement);  // the caller owns the payload
  return end(queue, transaction, code);
}

static int claim(
    sqlite_queue *queue, size_t limit, int64_t now, sqlite_job_claim *claims, size_t *count) {
  *count = 0;
  sqlite3_stmt *statement =
      queue->prepared[limit == 1 ? statement_claim_one : statement_claim];
  TRY(sqlite3_bind_int64(statement, 1, now));
  if (limit != 1) TRY(sqlite3_bind_int64(statement, 2, (int64_t)limit));
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW && *count < limit) {
    claims[(*count)++] = (sqlite_job_claim){
      .id = sqlite3_column_int64(statement, 0), .claim = sqlite3_column_int64(statement, 1),
    };
  }
  sqlite3_reset(statement);
  if (code != SQLITE_DONE) *count = 0;
  return code == SQLITE_DONE ? 0 : code;
}

static int finish(
    sqlite_queue *queue, const sqlite_job_claim *claims, size_t count, int64_t now,
    size_t *finished) {
  *finished = 0;
  bool transaction = count > 1;
  if (transaction) TRY(run(queue->prepared[statement_begin]));
  sqlite3_stmt *statement = queue->prepared[statement_finish];
  int code = 0;
  for (size_t index = 0; index < count && code == 0; index++) {
    code = sqlite3_bind_int64(statement, 1, now);
    if (code == 0) code = sqlite3_bind_int64(statement, 2, claims[index].id);
    if (code == 0) code = sqlite3_bind_int64(statement, 3, claims[index].claim);
    if (code == 0) code = run(statement);
    if (code == 0) *finished += (size_t)sqlite3_changes(queue->connection);
  }
  return end(queue, transaction, code);
}

static int count_state(sqlite_queue *queue, const char *state, size_t *count) {
  sqlite3_stmt *statement = queue->prepared[statement_count];
  *count = 0;
  TRY(sqlite3_bind_text(statement, 1, state, -1, SQLITE_STATIC));
  int code = sqlite3_step(statement);
  if (code == SQLITE_ROW) *count = (size_t)sqlite3_column_int64(statement, 0);
  sqlite3_reset(statement);
  return code == SQLITE_ROW ? 0 : code;
}

/// Runs a statement that returns no rows.
static int run(sqlite3_stmt *statement) {
  int code = sqlite3_step(statement);
  sqlite3_reset(statement);
  return code == SQLITE_DONE ? 0 : code;
}

static int end(sqlite_queue *queue, bool transaction, int code) {
  if (!transaction) return code;
  if (code == 0) code = run(queue->prepared[statement_commit]);
  // A failed commit is rolled back. The first error is the one to return.
  if (code != 0) run(queue->prepared[statement_rollback]);
  return code;
}
