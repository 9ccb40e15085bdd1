// A write transaction. Changes are collected by tree and then applied in key order, so that each
// leaf page is visited once. Private to this target.

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

/// Collects the change of the record, of the index entries that differ, and of the history. `old`
/// may point into the map, because it is read before anything is written. One of the two may be
/// NULL.
int commit_note(
    commit *commit, uint64_t object_id, const episode_row *old, const episode_row *new);

/// Applies the collected changes and commits them durably. With a code other than 0 it aborts.
int commit_end(commit *commit, int code);

#endif
