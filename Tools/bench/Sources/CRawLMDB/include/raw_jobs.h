// A queue of jobs in LMDB: one tree of records, and one with an entry for each job in the order of
// turns. It has one kind of record and three states; it does not check jobs, retry them or keep
// statistics.
//
// Every function returns 0, an errno value or an LMDB error code; `raw_error` returns its text. Any
// thread may call. Each change is one durable commit, and LMDB runs one at a time.

#ifndef RAW_JOBS_H
#define RAW_JOBS_H

#include <stddef.h>
#include <stdint.h>

/// The bytes that are written for a job. They can be set to those of the compared store.
typedef struct {
  size_t record;  // at least 64 and the payload, at most 4,096
  size_t turn;    // the key of the index: 33 to 128
} raw_jobs_sizes;

typedef enum {
  raw_job_ready = 1,
  raw_job_running = 2,
  raw_job_finished = 3,
} raw_job_state;

/// A claim of a job. A finish has no effect unless it names the last claim of its job.
typedef struct {
  uint64_t id;
  uint64_t claim;  // the number of the claim among those of this job
} raw_job_claim;

typedef struct raw_jobs raw_jobs;

/// Opens or creates the queue in an existing folder, with a map of 8 GiB. Returns EINVAL for sizes
/// that are out of bounds.
int raw_jobs_open(
    const char *_Nonnull folder, raw_jobs_sizes sizes, raw_jobs *_Nullable *_Nonnull jobs);
void raw_jobs_close(raw_jobs *_Nonnull jobs);

/// Enqueues `count` jobs that are ready from `now` on, in microseconds. Returns EINVAL if the
/// payload does not fit.
int raw_jobs_enqueue(
    raw_jobs *_Nonnull jobs, size_t count, uint64_t now, const void *_Nonnull payload,
    size_t length);

/// Claims up to `limit` jobs, first by rank and time. `claims` has room for `limit`.
int raw_jobs_claim(
    raw_jobs *_Nonnull jobs, size_t limit, uint64_t now, raw_job_claim *_Nonnull claims,
    size_t *_Nonnull count);

/// Finishes the jobs that still run under these claims, and sets `finished` to their number.
int raw_jobs_finish(
    raw_jobs *_Nonnull jobs, const raw_job_claim *_Nonnull claims, size_t count, uint64_t now,
    size_t *_Nonnull finished);

/// Counts the jobs of a state, one by one.
int raw_jobs_count(raw_jobs *_Nonnull jobs, raw_job_state state, size_t *_Nonnull count);

#endif
