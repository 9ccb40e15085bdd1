// The episodes in LMDB: a tree of records, seven trees of indexes, and a tree with the changes of
// each commit. Pages are applied in key order; bulk loads are sorted and appended. It has one kind
// of record and none of the costs of a general store, such as schemas, nulls in keys and checks.
//
// Every function returns 0, an errno value or an LMDB error code; `raw_error` returns its text. One
// thread at a time may write, and one may use each reader.

#ifndef RAW_STORE_H
#define RAW_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "episode_result.h"

/// The result of `raw_reader_get` for an id that no row has: LMDB's MDB_NOTFOUND.
enum { raw_not_found = -30798 };

typedef struct raw_store raw_store;

/// A read transaction with its cursors. Each read renews it.
typedef struct raw_reader raw_reader;

const char *_Nonnull raw_error(int code);

/// Opens or creates the store in an existing folder, with a map of 8 GiB.
int raw_store_open(const char *_Nonnull folder, raw_store *_Nullable *_Nonnull store);
/// Closes the store. Its readers must be closed before.
void raw_store_close(raw_store *_Nonnull store);
/// Sets `bytes` to the bytes of all pages of the file, including free ones.
int raw_store_size(raw_store *_Nonnull store, size_t *_Nonnull bytes);

/// Inserts new rows in one durable commit. Returns MDB_KEYEXIST if an id exists already.
int raw_store_insert(raw_store *_Nonnull store, const episode_row *_Nonnull rows, size_t count);

/// Fills an empty store tree by tree, each sorted and appended, in commits of `chunk` entries.
int raw_store_load_sorted(
    raw_store *_Nonnull store, const episode_row *_Nonnull rows, size_t count, size_t chunk);

/// Inserts or replaces rows by id in one durable commit, which writes only the index entries that
/// change. Equal rows are not written; if all are equal, there is no commit.
int raw_store_upsert(raw_store *_Nonnull store, const episode_row *_Nonnull rows, size_t count);

/// Sets the progress of the rows with these ids in one durable commit, each with its own entry in
/// the history, like writes of several callers that share a commit.
int raw_store_set_progress(
    raw_store *_Nonnull store, const episode_text *_Nonnull ids, const double *_Nonnull progress,
    size_t count);

/// Sets the progress of all rows of a type, in commits of `chunk` rows, and `updated` to their
/// number.
int raw_store_update_type(
    raw_store *_Nonnull store, int64_t type, double progress, size_t chunk,
    size_t *_Nonnull updated);

/// Deletes the rows that were last updated before a date, in commits of `chunk` rows, and sets
/// `deleted` to their number.
int raw_store_delete_before(
    raw_store *_Nonnull store, double date, size_t chunk, size_t *_Nonnull deleted);

/// Builds an additional index on duration and updated_at, from the start in each call: reads all
/// records, sorts the keys in memory, and appends them in commits of `chunk`. `count` is at least
/// the number of rows.
int raw_store_build_index(raw_store *_Nonnull store, size_t count, size_t chunk);

int raw_reader_open(raw_store *_Nonnull store, raw_reader *_Nullable *_Nonnull reader);
void raw_reader_close(raw_reader *_Nonnull reader);

/// Reads a row. Each of these reads has a new snapshot. Only `episode_list_path` uses `path`;
/// `limit` is at most the capacity of the result.
int raw_reader_get(
    raw_reader *_Nonnull reader, episode_text id, episode_result *_Nonnull result);
int raw_reader_list(
    raw_reader *_Nonnull reader, episode_list list, episode_text path, size_t limit,
    episode_result *_Nonnull result);
/// Reads two fields of each row of a list.
int raw_reader_cards(
    raw_reader *_Nonnull reader, episode_list list, episode_text path, size_t limit,
    episode_result *_Nonnull result);

/// Counts the matching rows by a scan of all records.
int raw_reader_scan(raw_reader *_Nonnull reader, episode_filter filter, size_t *_Nonnull matches);
int raw_reader_sum_duration(raw_reader *_Nonnull reader, int64_t *_Nonnull sum);
/// Counts the rows of a type by reading each index entry: LMDB has no counts of ranges.
int raw_reader_count_type(raw_reader *_Nonnull reader, int64_t type, size_t *_Nonnull count);
/// Counts the rows of the types 1, 2 and 3.
int raw_reader_group_by_type(raw_reader *_Nonnull reader, size_t counts[_Nonnull 3]);

#endif
