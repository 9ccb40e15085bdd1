// LMDB as a careful C programmer uses it: the episodes in one tree, seven index trees beside it,
// page changes applied in key order, bulk loads sorted and appended. It knows this one record only;
// nothing an entity store has to do (schemas, nulls in keys, history, checks) is paid for here.
//
// Every function returns 0, an errno value or an LMDB error code; `raw_error` words it. A store and
// its snapshot belong to one thread at a time.

#ifndef RAW_STORE_H
#define RAW_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "raw_rows.h"

/// How an index entry is divided between LMDB's key and data.
typedef enum {
  raw_layout_plain,         // A: key = values, object id; no data
  raw_layout_partitioned,   // B: key = leading value, DUPFIXED data = other values, object id
  raw_layout_unique_value,  // C: as A, but a unique index has data = object id
} raw_layout;

typedef struct {
  raw_layout layout;
  bool integer_key;  // records by MDB_INTEGERKEY, or else by eight big-endian bytes
} raw_options;

/// The lists of the home page.
typedef enum {
  raw_list_recent,
  raw_list_favorites,
  raw_list_watch_later,
  raw_list_free,
  raw_list_history,
  raw_list_path,
} raw_list;

/// What `raw_store_get` returns for an id that no row has; LMDB's MDB_NOTFOUND.
enum { raw_not_found = -30798 };

typedef struct raw_store raw_store;

/// Where fetched rows go: strings are copied out of the map, so they outlive the snapshot.
typedef struct {
  raw_row rows[64];
  size_t count;
  size_t used;
  char text[64 * 512];
} raw_result;

const char *_Nonnull raw_error(int code);

/// Opens or creates the store in an existing folder, with a map of 8 GiB.
int raw_store_open(
    const char *_Nonnull folder, raw_options options, raw_store *_Nullable *_Nonnull store);
void raw_store_close(raw_store *_Nonnull store);

/// Inserts new rows in one durable commit; MDB_KEYEXIST when an id is taken.
int raw_store_insert(raw_store *_Nonnull store, const raw_row *_Nonnull rows, size_t count);

/// Fills an empty store tree by tree, each sorted and appended, in commits of `chunk` entries.
int raw_store_load_sorted(
    raw_store *_Nonnull store, const raw_row *_Nonnull rows, size_t count, size_t chunk);

/// Inserts or replaces rows by id in one durable commit, touching only the entries that change.
int raw_store_upsert(raw_store *_Nonnull store, const raw_row *_Nonnull rows, size_t count);

/// Deletes the `count` least recently updated rows in commits of `chunk` rows.
int raw_store_delete_oldest(raw_store *_Nonnull store, size_t count, size_t chunk);

/// Builds an index on duration and updated_at beside the others, anew each time: reads all records,
/// sorts the keys in memory, and appends them in commits of `chunk`. `count` is at least the rows.
int raw_store_build_index(raw_store *_Nonnull store, size_t count, size_t chunk);

/// Each read takes a fresh snapshot by renewing one kept transaction. `limit` is at most 64;
/// `path` is read by `raw_list_path` alone.
int raw_store_get(raw_store *_Nonnull store, raw_text id, raw_result *_Nonnull result);
int raw_store_list(
    raw_store *_Nonnull store, raw_list list, raw_text path, size_t limit,
    raw_result *_Nonnull result);
int raw_store_count_by_type(raw_store *_Nonnull store, size_t counts[_Nonnull 3]);

/// Bytes in use by the pages of the file, the free ones included.
int raw_store_size(raw_store *_Nonnull store, size_t *_Nonnull bytes);

#endif
