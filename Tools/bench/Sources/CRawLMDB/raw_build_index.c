#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "raw_trees.h"

typedef struct {
  uint8_t bytes[24];
} build_key;

static int collect_keys(raw_store *store, build_key *keys, size_t limit, size_t *found);
static int compare_keys(const void *left, const void *right);
static int append_keys(
    raw_store *store, MDB_dbi dbi, const build_key *keys, size_t start, size_t end);

int raw_store_build_index(raw_store *store, size_t count, size_t chunk) {
  build_key *keys = malloc(count * sizeof *keys);
  if (keys == NULL) return ENOMEM;
  size_t found = 0;
  MDB_dbi dbi = 0;
  MDB_txn *transaction;
  int code = collect_keys(store, keys, count, &found);
  if (code == 0) {
    qsort(keys, found, sizeof *keys, compare_keys);
    code = mdb_txn_begin(store->environment, NULL, 0, &transaction);
  }
  if (code == 0) {
    code = mdb_dbi_open(transaction, "extra", MDB_CREATE, &dbi);
    if (code == 0) code = mdb_drop(transaction, dbi, 0);
    if (code == 0) code = mdb_txn_commit(transaction);
    else mdb_txn_abort(transaction);
  }
  for (size_t start = 0; start < found && code == 0; start += chunk) {
    code = append_keys(store, dbi, keys, start, found - start < chunk ? found : start + chunk);
  }
  free(keys);
  return code;
}

/// Collects the keys: duration, updated_at and object id, as in the index of the other candidates.
static int collect_keys(raw_store *store, build_key *keys, size_t limit, size_t *found) {
  MDB_txn *transaction;
  MDB_cursor *cursor;
  MDB_val key, data;
  TRY(mdb_txn_begin(store->environment, NULL, MDB_RDONLY, &transaction));
  int code = mdb_cursor_open(transaction, store->records, &cursor);
  if (code == 0) code = mdb_cursor_get(cursor, &key, &data, MDB_FIRST);
  while (code == 0 && *found < limit) {
    episode_row row;
    if (!read_record(data, &row)) code = EINVAL;
    uint64_t bits;
    memcpy(&bits, &row.updated_at, 8);
    bits = bits & ((uint64_t)1 << 63) ? ~bits : bits | (uint64_t)1 << 63;
    uint8_t *bytes = keys[(*found)++].bytes;
    write_big_endian(bytes, (uint64_t)row.duration ^ (uint64_t)1 << 63);
    write_big_endian(bytes + 8, bits);
    write_big_endian(bytes + 16, record_id(key));
    if (code == 0) code = mdb_cursor_get(cursor, &key, &data, MDB_NEXT);
  }
  mdb_txn_abort(transaction);
  return code == MDB_NOTFOUND ? 0 : code;
}

static int compare_keys(const void *left, const void *right) {
  return memcmp(left, right, sizeof(build_key));
}

static int append_keys(
    raw_store *store, MDB_dbi dbi, const build_key *keys, size_t start, size_t end) {
  MDB_txn *transaction;
  MDB_cursor *cursor;
  TRY(mdb_txn_begin(store->environment, NULL, 0, &transaction));
  int code = mdb_cursor_open(transaction, dbi, &cursor);
  for (size_t index = start; index < end && code == 0; index++) {
    MDB_val key = {.mv_size = sizeof(build_key), .mv_data = (void *)keys[index].bytes};
    MDB_val data = {0};
    code = mdb_cursor_put(cursor, &key, &data, MDB_APPEND);
  }
  if (code == 0) return mdb_txn_commit(transaction);
  mdb_txn_abort(transaction);
  return code;
}
