// The episodes in SQLite: the write-ahead log with a full flush at each commit, a cache of 256 MB,
// statements prepared once, and the seven indexes, of which the sparse ones are partial.
//
// Every function returns 0 or an SQLite error code; `sqlite_store_error` returns its text. One
// thread at a time may use a connection; a concurrent reader opens another one.

#ifndef SQLITE_STORE_H
#define SQLITE_STORE_H

#include "episode_result.h"

typedef struct sqlite_store sqlite_store;

/// The result of `sqlite_store_get` for an id that no row has: SQLite's SQLITE_NOTFOUND.
enum { sqlite_store_not_found = 12 };

const char *_Nonnull sqlite_store_error(int code);

/// Opens or creates the file.
int sqlite_store_open(const char *_Nonnull path, sqlite_store *_Nullable *_Nonnull store);
void sqlite_store_close(sqlite_store *_Nonnull store);
/// Maps the whole file. Warm reads are up to a fifth faster then, but the first reads of a file
/// that is not in memory are slower, because the system reads 128 KB for each page.
int sqlite_store_map(sqlite_store *_Nonnull store);
/// Moves the log into the file.
int sqlite_store_checkpoint(sqlite_store *_Nonnull store);

/// Inserts new rows. Each of these writes is one durable commit.
int sqlite_store_insert(
    sqlite_store *_Nonnull store, const episode_row *_Nonnull rows, size_t count);
/// Drops all indexes but the one on the id, and creates them again from the rows.
int sqlite_store_drop_indexes(sqlite_store *_Nonnull store);
int sqlite_store_create_indexes(sqlite_store *_Nonnull store);
int sqlite_store_upsert(
    sqlite_store *_Nonnull store, const episode_row *_Nonnull rows, size_t count);
int sqlite_store_set_progress(sqlite_store *_Nonnull store, episode_text id, double progress);
int sqlite_store_update_type(
    sqlite_store *_Nonnull store, int64_t type, double progress, size_t *_Nonnull updated);
int sqlite_store_delete_before(
    sqlite_store *_Nonnull store, double date, size_t *_Nonnull deleted);

int sqlite_store_get(
    sqlite_store *_Nonnull store, episode_text id, episode_result *_Nonnull result);
/// Reads the rows of a list. Only `episode_list_path` uses `path`; `limit` is at most the capacity
/// of the result.
int sqlite_store_list(
    sqlite_store *_Nonnull store, episode_list list, episode_text path, size_t limit,
    episode_result *_Nonnull result);
/// Reads two columns of each row of a list.
int sqlite_store_cards(
    sqlite_store *_Nonnull store, episode_list list, episode_text path, size_t limit,
    episode_result *_Nonnull result);
int sqlite_store_scan(
    sqlite_store *_Nonnull store, episode_filter filter, size_t *_Nonnull matches);
int sqlite_store_sum_duration(sqlite_store *_Nonnull store, int64_t *_Nonnull sum);
int sqlite_store_count_type(
    sqlite_store *_Nonnull store, int64_t type, size_t *_Nonnull count);
/// Counts the rows of the types 1, 2 and 3.
int sqlite_store_group_by_type(sqlite_store *_Nonnull store, size_t counts[_Nonnull 3]);

#endif
