// A queue of jobs in a table of SQLite: the write-ahead log with a full flush at each
// commit, one connection that writes, statements prepared once, a partial index on what is ready,
// and claims by `UPDATE … RETURNING`.
//
// Every function returns 0 or an SQLite error code; `sqlite_queue_error` returns its text. Any
// thread may call; a mutex protects the connection. Each change is one durable commit.

#ifndef SQLITE_QUEUE_H
#define SQLITE_QUEUE_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
  sqlite_job_ready,
  sqlite_job_running,
  sqlite_job_finished,
} sqlite_job_state;

/// A claim of a job. A finish has no effect unless it names the last claim of its job.
typedef struct {
  int64_t id;
  int64_t claim;  // the number of the claim among those of this job
} sqlite_job_claim;

typedef struct sqlite_queue sqlite_queue;

const char *_Nonnull sqlite_queue_error(int code);

/// Opens or creates the file. Waits up to five seconds for a lock of another process.
int sqlite_queue_open(const char *_Nonnull path, sqlite_queue *_Nullable *_Nonnull queue);
void sqlite_queue_close(sqlite_queue *_Nonnull queue);

/// Enqueues `count` jobs that are ready from `now` on, in microseconds.
int sqlite_queue_enqueue(
    sqlite_queue *_Nonnull queue, size_t count, int64_t now, const void *_Nonnull payload,
    size_t length);

/// Claims up to `limit` jobs by one statement, first by priority and time. `claims` has room for
/// `limit`; their order is undefined.
int sqlite_queue_claim(
    sqlite_queue *_Nonnull queue, size_t limit, int64_t now, sqlite_job_claim *_Nonnull claims,
    size_t *_Nonnull count);

/// Finishes the jobs that still run under these claims, and sets `finished` to their number.
int sqlite_queue_finish(
    sqlite_queue *_Nonnull queue, const sqlite_job_claim *_Nonnull claims, size_t count,
    int64_t now, size_t *_Nonnull finished);

/// Counts the jobs of a state, one by one.
int sqlite_queue_count(
    sqlite_queue *_Nonnull queue, sqlite_job_state state, size_t *_Nonnull count);

#endif
