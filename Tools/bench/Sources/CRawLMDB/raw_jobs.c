#include "raw_jobs.h"

#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

#include "raw_entries.h"

#define TRY(call)                       \
  do {                                  \
    int try_code = (call);              \
    if (try_code != 0) return try_code; \
  } while (0)

enum { longest_job = 4096, longest_turn = 128 };

/// The head of a record, in native byte order. The payload follows, then zeros up to the record
/// size.
typedef struct {
  uint64_t state;
  uint64_t rank;  // smaller goes first
  uint64_t run_at;
  uint64_t claim;
  uint64_t started_at;
  uint64_t finished_at;
  uint64_t attempts;
  uint64_t length;  // of the payload
} job_head;

struct raw_jobs {
  MDB_env *environment;
  MDB_dbi records;
  MDB_dbi turns;
  raw_jobs_sizes sizes;
  uint64_t next_id;  // read and written within a write transaction only
};

/// A write transaction with a cursor on each tree; both end with it.
typedef struct {
  raw_jobs *jobs;
  MDB_txn *transaction;
  MDB_cursor *records;
  MDB_cursor *turns;
} job_commit;

static int open_environment(raw_jobs *jobs, const char *folder);
static int begin(raw_jobs *jobs, job_commit *commit);
static int end(job_commit *commit, int code);
static int append_records(
    job_commit *commit, size_t count, uint64_t now, const void *payload, size_t length);
static int append_turns(job_commit *commit, size_t count, uint64_t now);
static int take_turns(
    job_commit *commit, size_t limit, uint64_t now, raw_job_claim *claims, size_t *count);
static int start_records(job_commit *commit, uint64_t now, raw_job_claim *claims, size_t count);
static int finish_records(
    job_commit *commit, const raw_job_claim *claims, size_t count, uint64_t now, job_head *heads);
static int move_turns(
    job_commit *commit, const raw_job_claim *claims, size_t count, uint64_t now,
    const job_head *heads, size_t *finished);
static int read_job(job_commit *commit, MDB_val *key, uint8_t *record, job_head *head);
static int write_job(job_commit *commit, MDB_val *key, uint8_t *record, const job_head *head);
static MDB_val turn_key(
    const raw_jobs *jobs, raw_job_state state, uint64_t rank, uint64_t at, uint64_t id,
    uint8_t bytes[longest_turn]);

int raw_jobs_open(const char *folder, raw_jobs_sizes sizes, raw_jobs **opened) {
  if (sizes.record < sizeof(job_head) || sizes.record > longest_job) return EINVAL;
  if (sizes.turn < 33 || sizes.turn > longest_turn) return EINVAL;
  raw_jobs *jobs = calloc(1, sizeof *jobs);
  if (jobs == NULL) return ENOMEM;
  jobs->sizes = sizes;
  int code = open_environment(jobs, folder);
  if (code != 0) {
    raw_jobs_close(jobs);
    return code;
  }
  *opened = jobs;
  return 0;
}

void raw_jobs_close(raw_jobs *jobs) {
  mdb_env_close(jobs->environment);
  free(jobs);
}

int raw_jobs_enqueue(
    raw_jobs *jobs, size_t count, uint64_t now, const void *payload, size_t length) {
  if (length > jobs->sizes.record - sizeof(job_head)) return EINVAL;
  job_commit commit;
  TRY(begin(jobs, &commit));
  int code = append_records(&commit, count, now, payload, length);
  if (code == 0) code = append_turns(&commit, count, now);
  if (code == 0) jobs->next_id += count;
  return end(&commit, code);
}

int raw_jobs_claim(
    raw_jobs *jobs, size_t limit, uint64_t now, raw_job_claim *claims, size_t *count) {
  *count = 0;
  job_commit commit;
  TRY(begin(jobs, &commit));
  int code = take_turns(&commit, limit, now, claims, count);
  if (code == 0) code = start_records(&commit, now, claims, *count);
  return end(&commit, code);
}

int raw_jobs_finish(
    raw_jobs *jobs, const raw_job_claim *claims, size_t count, uint64_t now, size_t *finished) {
  *finished = 0;
  job_head *heads = malloc((count > 0 ? count : 1) * sizeof *heads);
  if (heads == NULL) return ENOMEM;
  job_commit commit;
  int code = begin(jobs, &commit);
  if (code == 0) {
    code = finish_records(&commit, claims, count, now, heads);
    if (code == 0) code = move_turns(&commit, claims, count, now, heads, finished);
    code = end(&commit, code);
  }
  free(heads);
  return code;
}

int raw_jobs_count(raw_jobs *jobs, raw_job_state state, size_t *count) {
  *count = 0;
  MDB_txn *transaction;
  MDB_cursor *cursor;
  TRY(mdb_txn_begin(jobs->environment, NULL, MDB_RDONLY, &transaction));
  int code = mdb_cursor_open(transaction, jobs->turns, &cursor);
  if (code == 0) {
    uint8_t bytes[longest_turn];
    MDB_val key = turn_key(jobs, state, 0, 0, 0, bytes), data;
    code = mdb_cursor_get(cursor, &key, &data, MDB_SET_RANGE);
    while (code == 0 && *(uint8_t *)key.mv_data == state) {
      *count += 1;
      code = mdb_cursor_get(cursor, &key, &data, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
  }
  mdb_txn_abort(transaction);
  return code == MDB_NOTFOUND ? 0 : code;
}

static int open_environment(raw_jobs *jobs, const char *folder) {
  TRY(mdb_env_create(&jobs->environment));
  TRY(mdb_env_set_mapsize(jobs->environment, (size_t)8 << 30));
  TRY(mdb_env_set_maxdbs(jobs->environment, 2));
  TRY(mdb_env_open(jobs->environment, folder, MDB_NOTLS, 0600));
  MDB_txn *transaction;
  TRY(mdb_txn_begin(jobs->environment, NULL, 0, &transaction));
  int code = mdb_dbi_open(transaction, "jobs", MDB_CREATE | MDB_INTEGERKEY, &jobs->records);
  if (code == 0) code = mdb_dbi_open(transaction, "turns", MDB_CREATE, &jobs->turns);
  MDB_cursor *cursor;
  if (code == 0) code = mdb_cursor_open(transaction, jobs->records, &cursor);
  if (code == 0) {
    MDB_val key, data;
    code = mdb_cursor_get(cursor, &key, &data, MDB_LAST);
    if (code == 0) memcpy(&jobs->next_id, key.mv_data, sizeof jobs->next_id);
    if (code == MDB_NOTFOUND) code = 0;
    jobs->next_id += 1;
  }
  if (code == 0) return mdb_txn_commit(transaction);
  mdb_txn_abort(transaction);
  return code;
}

static int begin(raw_jobs *jobs, job_commit *commit) {
  commit->jobs = jobs;
  TRY(mdb_txn_begin(jobs->environment, NULL, 0, &commit->transaction));
  int code = mdb_cursor_open(commit->transaction, jobs->records, &commit->records);
  if (code == 0) code = mdb_cursor_open(commit->transaction, jobs->turns, &commit->turns);
  if (code != 0) mdb_txn_abort(commit->transaction);
  return code;
}

static int end(job_commit *commit, int code) {
  if (code == 0) return mdb_txn_commit(commit->transaction);
  mdb_txn_abort(commit->transaction);
  return code;
}

static int append_records(
    job_commit *commit, size_t count, uint64_t now, const void *payload, size_t length) {
  job_head head = {.state = raw_job_ready, .run_at = now, .length = length};
  uint8_t record[longest_job] = {0};
  memcpy(record, &head, sizeof head);
  memcpy(record + sizeof head, payload, length);
  for (size_t index = 0; index < count; index++) {
    uint64_t id = commit->jobs->next_id + index;
    MDB_val key = {sizeof id, &id}, value = {commit->jobs->sizes.record, record};
    TRY(mdb_cursor_put(commit->records, &key, &value, MDB_APPEND));
  }
  return 0;
}

/// Adds the turns of new jobs, which are the last ready ones but not the last in the tree.
static int append_turns(job_commit *commit, size_t count, uint64_t now) {
  const raw_jobs *jobs = commit->jobs;
  for (size_t index = 0; index < count; index++) {
    uint8_t bytes[longest_turn];
    MDB_val key = turn_key(jobs, raw_job_ready, 0, now, jobs->next_id + index, bytes);
    MDB_val nothing = {0, NULL};
    TRY(mdb_cursor_put(commit->turns, &key, &nothing, MDB_NOOVERWRITE));
  }
  return 0;
}

static int take_turns(
    job_commit *commit, size_t limit, uint64_t now, raw_job_claim *claims, size_t *count) {
  uint8_t bytes[longest_turn];
  MDB_val key = turn_key(commit->jobs, raw_job_ready, 0, 0, 0, bytes), data;
  int code = mdb_cursor_get(commit->turns, &key, &data, MDB_SET_RANGE);
  while (code == 0 && *count < limit && *(uint8_t *)key.mv_data == raw_job_ready) {
    const uint8_t *tail = (uint8_t *)key.mv_data + key.mv_size - 16;
    if (read_big_endian(tail) > now) break;  // one rank only: all others are later
    claims[(*count)++].id = read_big_endian(tail + 8);
    TRY(mdb_cursor_del(commit->turns, 0));
    code = mdb_cursor_get(commit->turns, &key, &data, MDB_NEXT);
  }
  return code == MDB_NOTFOUND ? 0 : code;
}

/// Writes the claims in the order of their ids, so that each leaf page is visited once.
static int start_records(job_commit *commit, uint64_t now, raw_job_claim *claims, size_t count) {
  for (size_t index = 0; index < count; index++) {
    uint8_t record[longest_job];
    job_head head;
    MDB_val key = {sizeof claims[index].id, &claims[index].id};
    TRY(read_job(commit, &key, record, &head));
    head.state = raw_job_running;
    head.started_at = now;
    head.attempts += 1;
    claims[index].claim = head.claim += 1;
    TRY(write_job(commit, &key, record, &head));
  }
  for (size_t index = 0; index < count; index++) {
    uint8_t bytes[longest_turn];
    MDB_val key = turn_key(commit->jobs, raw_job_running, 0, now, claims[index].id, bytes);
    MDB_val nothing = {0, NULL};
    TRY(mdb_cursor_put(commit->turns, &key, &nothing, MDB_NOOVERWRITE));
  }
  return 0;
}

/// Finishes records. `heads` gets the heads before, with state 0 for a claim that is not the last.
static int finish_records(
    job_commit *commit, const raw_job_claim *claims, size_t count, uint64_t now, job_head *heads) {
  for (size_t index = 0; index < count; index++) {
    uint8_t record[longest_job];
    uint64_t id = claims[index].id;
    MDB_val key = {sizeof id, &id};
    TRY(read_job(commit, &key, record, &heads[index]));
    job_head head = heads[index];
    if (head.state != raw_job_running || head.claim != claims[index].claim) {
      heads[index].state = 0;
      continue;
    }
    head.state = raw_job_finished;
    head.finished_at = now;
    TRY(write_job(commit, &key, record, &head));
  }
  return 0;
}

static int move_turns(
    job_commit *commit, const raw_job_claim *claims, size_t count, uint64_t now,
    const job_head *heads, size_t *finished) {
  uint8_t bytes[longest_turn];
  MDB_val nothing = {0, NULL}, data;
  for (size_t index = 0; index < count; index++) {
    if (heads[index].state == 0) continue;
    MDB_val key = turn_key(
        commit->jobs, raw_job_running, heads[index].rank, heads[index].started_at,
        claims[index].id, bytes);
    TRY(mdb_cursor_get(commit->turns, &key, &data, MDB_SET));
    TRY(mdb_cursor_del(commit->turns, 0));
    *finished += 1;
  }
  for (size_t index = 0; index < count; index++) {
    if (heads[index].state == 0) continue;
    MDB_val key = turn_key(
        commit->jobs, raw_job_finished, heads[index].rank, now, claims[index].id, bytes);
    TRY(mdb_cursor_put(commit->turns, &key, &nothing, MDB_NOOVERWRITE));
  }
  return 0;
}

static int read_job(job_commit *commit, MDB_val *key, uint8_t *record, job_head *head) {
  MDB_val value;
  TRY(mdb_cursor_get(commit->records, key, &value, MDB_SET));
  if (value.mv_size != commit->jobs->sizes.record) return EINVAL;
  memcpy(record, value.mv_data, value.mv_size);
  memcpy(head, record, sizeof *head);
  return 0;
}

/// Rewrites the record at the cursor of `read_job`. The size is unchanged, so it stays in place.
static int write_job(job_commit *commit, MDB_val *key, uint8_t *record, const job_head *head) {
  memcpy(record, head, sizeof *head);
  MDB_val value = {commit->jobs->sizes.record, record};
  return mdb_cursor_put(commit->records, key, &value, MDB_CURRENT);
}

/// Encodes a turn: state (1 byte); queue and kind, here the same for all, in the remaining bytes;
/// rank, at and id, each eight big-endian bytes. `at` is the time at which a job becomes ready,
/// started or finished.
static MDB_val turn_key(
    const raw_jobs *jobs, raw_job_state state, uint64_t rank, uint64_t at, uint64_t id,
    uint8_t bytes[longest_turn]) {
  uint8_t *tail = bytes + jobs->sizes.turn - 24;
  memset(bytes, 'q', jobs->sizes.turn);
  bytes[0] = (uint8_t)state;
  write_big_endian(tail, rank);
  write_big_endian(tail + 8, at);
  write_big_endian(tail + 16, id);
  return (MDB_val){jobs->sizes.turn, bytes};
}
