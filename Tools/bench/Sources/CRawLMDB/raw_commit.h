// One write transaction: changes are gathered by tree first and then applied in key order, so that
// each leaf page is visited once; private to this target.

#ifndef RAW_COMMIT_H
#define RAW_COMMIT_H

#include "raw_history.h"

typedef struct {
  entry entry;
  bool deletes;
} entry_change;

typedef struct {
  uint64_t object_id;
  const episode_row *row;  // NULL deletes
} record_change;

typedef struct {
  raw_store *store;
  MDB_txn *transaction;
  history history;
  uint64_t first_new;  // object ids from here on are new and sort after all others
  record_change *records;
  size_t record_count;
  entry_change *entries[tree_count];
  size_t entry_counts[tree_count];
} commit;

/// Begins a transaction with room for `rows` changes.
int commit_begin(commit *commit, raw_store *store, size_t rows);

/// Notes the record, of the index entries those that differ, and the change in the history. `old` may
/// point into the map: it is read here, before anything is written. One of the two may be NULL.
int commit_note(
    commit *commit, uint64_t object_id, const episode_row *old, const episode_row *new);

/// Applies what was noted and commits it, durably; with a code that is not 0, ends without.
int commit_end(commit *commit, int code);

#endif
