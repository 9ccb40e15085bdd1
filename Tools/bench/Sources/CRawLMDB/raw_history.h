// The history of a commit in the format of Mooring, so that both write the same number of bytes.
// Private to this target.

#ifndef RAW_HISTORY_H
#define RAW_HISTORY_H

#include "raw_trees.h"

/// The entry of one transaction: parts of at most about 1,750 bytes, each appended when it is full.
///
///     key     8  number of the transaction, big-endian    4  number of the part, big-endian
///     value   of part 0: 1 layout, 8 time, 1 no author; then the changes
///     change  v  entity and kind   s  object id less that of the change before
///             of an update: v count, v for each attribute that changed, 1 no values
///             of a delete:  v count, then for each value  v attribute  1 kind  v bytes  the value
///
/// `v` and `s` are unsigned and signed numbers of seven bits a byte.
typedef struct {
  MDB_txn *transaction;
  MDB_dbi tree;
  uint64_t number;
  uint32_t part;
  uint64_t previous;
  size_t length;
  uint8_t bytes[4096];
} history;

int history_begin(history *history, const raw_store *store, MDB_txn *transaction);
int history_insert(history *history, uint64_t object_id);
int history_update(
    history *history, uint64_t object_id, const episode_row *old, const episode_row *new);
int history_update_progress(history *history, uint64_t object_id);
int history_delete(history *history, uint64_t object_id, const episode_row *old);
int history_end(history *history);

#endif
