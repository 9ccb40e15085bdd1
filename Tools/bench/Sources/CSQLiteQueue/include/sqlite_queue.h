// A queue of jobs in a table of SQLite, written well: the write-ahead log with a full flush at each
// commit, one connection that writes, statements prepared once, a partial index on what is ready,
// and claims by `UPDATE … RETURNING`.
//
// Every function returns 0 or an SQLite error code; `sqlite_queue_error` words it. Any thread may
// call; a mutex lets one to the connection at a time. Each change is one durable commit.

#ifndef SQLITE_QUEUE_H
#define SQLITE_QUEUE_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
  sqlite_job_ready,
  sqlite_job_running,
  sqlite_job_finished,
} sqlite_job_state;

/// A claim of a job. A finish that does not name the last claim of its job is too late.
typedef struct {
  int64_t id;
  int64_t claim;  // its number among all claims of this job
} sqlite_job_claim;

typedef struct sqlite_queue sqlite_queue;

const char *_Nonnull sqlite_queue_error(int code);

/// Opens or creates the file. Another process that holds it is waited for, five seconds at most.
int sqlite_queue_open(const char *_Nonnull path, sqlite_queue *_Nullable *_Nonnull queue);
void sqlite_queue_close(sqlite_queue *_Nonnull queue);

/// Adds `count` jobs that are ready from `now` on, in microseconds.
int sqlite_queue_enqueue(
    sqlite_queue *_Nonnull queue, size_t count, int64_t now, const void *_Nonnull payload,
    size_t length);

/// Claims up to `limit` jobs by one statement, the first ones by priority and time. `claims` has
/// room for `limit`; they come in no order.
int sqlite_queue_claim(
    sqlite_queue *_Nonnull queue, size_t limit, int64_t now, sqlite_job_claim *_Nonnull claims,
    size_t *_Nonnull count);

/// Finishes those that still run under these claims; `finished` is how many.
int sqlite_queue_finish(
    sqlite_queue *_Nonnull queue, const sqlite_job_claim *_Nonnull claims, size_t count,
    int64_t now, size_t *_Nonnull finished);

/// Counts the jobs of a state, one by one.
int sqlite_queue_count(
    sqlite_queue *_Nonnull queue, sqlite_job_state state, size_t *_Nonnull count);

#endif
