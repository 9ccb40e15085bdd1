// The handles of a store, and functions to put, delete and seek entries. Private to this target.

#ifndef RAW_TREES_H
#define RAW_TREES_H

#include "raw_entries.h"
#include "raw_store.h"

struct raw_store {
  MDB_env *environment;
  MDB_dbi records;  // MDB_INTEGERKEY
  MDB_dbi trees[tree_count];
  MDB_dbi history;
  uint64_t next_object_id;
};

struct raw_reader {
  raw_store *store;
  MDB_txn *snapshot;  // reset between reads
  MDB_cursor *records;
  MDB_cursor *trees[tree_count];
};

#define TRY(call)                   \
  do {                              \
    int try_code = (call);          \
    if (try_code != 0) return try_code; \
  } while (0)

/// Returns the key of a record. It points to the id.
MDB_val record_key(const uint64_t *object_id);
uint64_t record_id(MDB_val key);

int put_record(MDB_cursor *cursor, uint64_t object_id, const episode_row *row, unsigned flags);

/// Splits an entry into LMDB's key and data, which point into it. The unique index has the object
/// id as data, so that LMDB sees that a value is taken; in all others it ends the key.
void split_entry(int tree, entry *entry, MDB_val *key, MDB_val *data);

/// Finds the object id of a string id, or returns MDB_NOTFOUND.
int find_object_id(MDB_cursor *id_cursor, episode_text id, uint64_t *object_id);

/// Steps through the entries that begin with `leading`, in order, from `*started == false` on;
/// MDB_NOTFOUND at the end. Not for the unique index.
int next_entry(MDB_cursor *cursor, entry *leading, bool *started, MDB_val *key);

/// Returns the object id at the end of an entry.
uint64_t entry_object_id(MDB_val bytes);

#endif
