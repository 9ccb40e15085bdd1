// A queue of jobs as a careful C programmer keeps it in LMDB: one tree of records, and one that
// holds each job once, in the order of turns. It knows this one record and three states only; no
// checks of what is enqueued, no retries, no figures.
//
// Every function returns 0, an errno value or an LMDB error code; `raw_error` words it. Any thread
// may call, and each change is one durable commit; LMDB lets one in at a time.

#ifndef RAW_JOBS_H
#define RAW_JOBS_H

#include <stddef.h>
#include <stdint.h>

/// Bytes of what is written for a job, so that they can be those of the store it is compared with.
typedef struct {
  size_t record;  // from 64 and the payload on, to 4,096
  size_t turn;    // the key of the index, from 33 to 128
} raw_jobs_sizes;

typedef enum {
  raw_job_ready = 1,
  raw_job_running = 2,
  raw_job_finished = 3,
} raw_job_state;

/// A claim of a job. A finish that does not name the last claim of its job is too late.
typedef struct {
  uint64_t id;
  uint64_t claim;  // its number among all claims of this job
} raw_job_claim;

typedef struct raw_jobs raw_jobs;

/// Opens or creates the queue in an existing folder, with a map of 8 GiB. EINVAL for sizes that are
/// out of bounds.
int raw_jobs_open(
    const char *_Nonnull folder, raw_jobs_sizes sizes, raw_jobs *_Nullable *_Nonnull jobs);
void raw_jobs_close(raw_jobs *_Nonnull jobs);

/// Adds `count` jobs that are ready from `now` on, in microseconds; EINVAL when the payload does not
/// fit.
int raw_jobs_enqueue(
    raw_jobs *_Nonnull jobs, size_t count, uint64_t now, const void *_Nonnull payload,
    size_t length);

/// Claims up to `limit` jobs, the first ones by rank and time. `claims` has room for `limit`.
int raw_jobs_claim(
    raw_jobs *_Nonnull jobs, size_t limit, uint64_t now, raw_job_claim *_Nonnull claims,
    size_t *_Nonnull count);

/// Finishes those that still run under these claims; `finished` is how many.
int raw_jobs_finish(
    raw_jobs *_Nonnull jobs, const raw_job_claim *_Nonnull claims, size_t count, uint64_t now,
    size_t *_Nonnull finished);

/// Counts the jobs of a state, one by one.
int raw_jobs_count(raw_jobs *_Nonnull jobs, raw_job_state state, size_t *_Nonnull count);

#endif
