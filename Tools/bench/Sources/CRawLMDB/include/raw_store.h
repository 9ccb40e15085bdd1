// LMDB as a careful C programmer uses it: the episodes in one tree, seven index trees beside it, the
// changes of each commit in another; pages applied in key order, bulk loads sorted and appended. It
// knows this one record only; nothing a store of any entities has to do (schemas, nulls in keys,
// checks) is paid for here.
//
// Every function returns 0, an errno value or an LMDB error code; `raw_error` words it. Writes belong
// to one thread at a time, and so does each reader.

#ifndef RAW_STORE_H
#define RAW_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "episode_result.h"

/// What `raw_reader_get` returns for an id that no row has; LMDB's MDB_NOTFOUND.
enum { raw_not_found = -30798 };

typedef struct raw_store raw_store;

/// One kept read transaction with its cursors, renewed for each read.
typedef struct raw_reader raw_reader;

const char *_Nonnull raw_error(int code);

/// Opens or creates the store in an existing folder, with a map of 8 GiB.
int raw_store_open(const char *_Nonnull folder, raw_store *_Nullable *_Nonnull store);
/// Readers are closed first.
void raw_store_close(raw_store *_Nonnull store);
/// Bytes in use by the pages of the file, the free ones included.
int raw_store_size(raw_store *_Nonnull store, size_t *_Nonnull bytes);

/// Inserts new rows in one durable commit; MDB_KEYEXIST when an id is taken.
int raw_store_insert(raw_store *_Nonnull store, const episode_row *_Nonnull rows, size_t count);

/// Fills an empty store tree by tree, each sorted and appended, in commits of `chunk` entries.
int raw_store_load_sorted(
    raw_store *_Nonnull store, const episode_row *_Nonnull rows, size_t count, size_t chunk);

/// Inserts or replaces rows by id in one durable commit, touching only the entries that change. Rows
/// that are the same are left alone; if all are, nothing is committed.
int raw_store_upsert(raw_store *_Nonnull store, const episode_row *_Nonnull rows, size_t count);

/// Gives the rows of these ids new progress, all in one durable commit, each with an entry of its own
/// in the history: as writes of several callers that share a commit.
int raw_store_set_progress(
    raw_store *_Nonnull store, const episode_text *_Nonnull ids, const double *_Nonnull progress,
    size_t count);

/// Gives all rows of a type the same progress, in commits of `chunk` rows; `updated` is how many.
int raw_store_update_type(
    raw_store *_Nonnull store, int64_t type, double progress, size_t chunk,
    size_t *_Nonnull updated);

/// Deletes the rows last updated before a date, in commits of `chunk` rows; `deleted` is how many.
int raw_store_delete_before(
    raw_store *_Nonnull store, double date, size_t chunk, size_t *_Nonnull deleted);

/// Builds an index on duration and updated_at beside the others, anew each time: reads all records,
/// sorts the keys in memory, and appends them in commits of `chunk`. `count` is at least the rows.
int raw_store_build_index(raw_store *_Nonnull store, size_t count, size_t chunk);

int raw_reader_open(raw_store *_Nonnull store, raw_reader *_Nullable *_Nonnull reader);
void raw_reader_close(raw_reader *_Nonnull reader);

/// Each read takes a fresh snapshot. `path` is read by `episode_list_path` alone; `limit` is at most
/// the capacity of the result.
int raw_reader_get(
    raw_reader *_Nonnull reader, episode_text id, episode_result *_Nonnull result);
int raw_reader_list(
    raw_reader *_Nonnull reader, episode_list list, episode_text path, size_t limit,
    episode_result *_Nonnull result);
/// The same with two fields of each row.
int raw_reader_cards(
    raw_reader *_Nonnull reader, episode_list list, episode_text path, size_t limit,
    episode_result *_Nonnull result);

/// Looks at every record.
int raw_reader_scan(raw_reader *_Nonnull reader, episode_filter filter, size_t *_Nonnull matches);
int raw_reader_sum_duration(raw_reader *_Nonnull reader, int64_t *_Nonnull sum);
/// Counts entries of the index one by one: LMDB keeps no counts of ranges.
int raw_reader_count_type(raw_reader *_Nonnull reader, int64_t type, size_t *_Nonnull count);
/// Of the types 1, 2 and 3.
int raw_reader_group_by_type(raw_reader *_Nonnull reader, size_t counts[_Nonnull 3]);

#endif
