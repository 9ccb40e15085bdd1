// Index entries and records as bytes; private to this target.

#ifndef RAW_ENTRIES_H
#define RAW_ENTRIES_H

#include <lmdb.h>
#include <stdbool.h>

#include "episode_rows.h"

enum {
  tree_id,
  tree_updated,
  tree_type_updated,
  tree_watch_later,
  tree_favorite,
  tree_watched,
  tree_path,
  tree_count,
};

/// An index entry: its bytes sort in index order, and the last eight are the object id.
typedef struct {
  uint8_t length;
  uint8_t bytes[39];
} entry;

/// Encodes the entry of `row` in `tree`; its `length` is 0 where the row has none.
///
///     tree          leading        rest
///     id            id NUL         object id
///     updated                      ~updated_at, object id
///     type_updated  type (1 byte)  ~updated_at, object id
///     watch_later, favorite, watched: as updated, absent where the date is
///     path          path_id NUL    position, object id; absent without a path
///
/// Numbers are eight big-endian bytes; a date is the order-preserving form of its IEEE bits, and
/// `~` its complement, so that the newest comes first.
void encode_entry(const episode_row *row, uint64_t object_id, int tree, entry *entry);

/// Encodes only a leading string of at most 20 bytes, as the id and path trees begin.
void encode_leading_text(episode_text text, entry *entry);

int compare_entries(const void *left, const void *right);

uint64_t read_big_endian(const uint8_t *bytes);
void write_big_endian(uint8_t *bytes, uint64_t value);

enum { longest_record = 512 };

/// Encodes a record: a head of five dates and progress as doubles, duration and position as 32-bit
/// numbers, five 16-bit lengths and the type, then id, title, summary, url and path id, in native
/// byte order and unaligned. Returns the length, or 0 if the row does not fit.
size_t encode_record(const episode_row *row, uint8_t record[longest_record]);

/// The fields of a record that have fixed places.
typedef struct __attribute__((packed)) {
  double published_at, updated_at, favorite_at, watch_later_at, watched_at, progress;
  uint32_t duration, position;
  uint16_t id, title, summary, url, path_id;
  uint8_t type;
} record_head;

/// Reads a record in place: the strings point into it. Returns false if it is truncated.
bool read_record(MDB_val record, episode_row *row);
/// Reads two fields of a record in place.
bool read_card(MDB_val record, episode_text *title, double *updated_at);
/// Returns the head in place; NULL if the record is truncated.
const record_head *read_head(MDB_val record);

#endif
