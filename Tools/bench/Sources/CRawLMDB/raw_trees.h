// A store's handles, and entries put, deleted and sought by layout; private to this target.

#ifndef RAW_TREES_H
#define RAW_TREES_H

#include "raw_entries.h"

struct raw_store {
  MDB_env *environment;
  raw_options options;
  MDB_dbi records;
  MDB_dbi trees[tree_count];
  uint64_t next_object_id;
  MDB_txn *snapshot;  // reset between reads
  MDB_cursor *cursors[tree_count];
};

#define TRY(call)                   \
  do {                              \
    int try_code = (call);          \
    if (try_code != 0) return try_code; \
  } while (0)

/// Splits an entry into LMDB's key and data; they point into the entry.
void split_entry(const raw_store *store, int tree, entry *entry, MDB_val *key, MDB_val *data);
bool is_partitioned(const raw_store *store, int tree);

/// Puts an entry; with MDB_APPEND, one that sorts after all others.
int put_entry(const raw_store *store, MDB_cursor *cursor, int tree, entry *entry, unsigned flags);
int delete_entry(const raw_store *store, MDB_txn *transaction, int tree, entry *entry);

/// The key of a record, in `bytes`.
MDB_val record_key(const raw_store *store, uint64_t object_id, uint8_t bytes[8]);

int put_record(
    const raw_store *store, MDB_cursor *cursor, uint64_t object_id, const raw_row *row,
    unsigned flags);

/// The object id of a string id, or MDB_NOTFOUND.
int find_object_id(const raw_store *store, MDB_cursor *id_cursor, raw_text id, uint64_t *object_id);

/// Steps through the entries that begin with `leading`, in order, from `*started == false` on.
int next_object_id(
    const raw_store *store, MDB_cursor *cursor, int tree, entry *leading, bool *started,
    uint64_t *object_id);

#endif
