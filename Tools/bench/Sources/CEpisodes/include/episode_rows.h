// The rows that every candidate loads: one seeded data set, generated once and kept in memory, so
// that the time of a candidate does not include the generation of its input.

#ifndef EPISODE_ROWS_H
#define EPISODE_ROWS_H

#include <stddef.h>
#include <stdint.h>

/// A string that is not NUL-terminated and not owned; `bytes` is NULL for an absent value.
typedef struct {
  const char *_Nullable bytes;
  uint32_t length;
} episode_text;

/// An episode. Dates are seconds since 2001-01-01; NaN is an absent date. `position` is meaningful
/// only where `path_id` is present.
typedef struct {
  int64_t type;
  int64_t duration;
  int64_t position;
  double published_at;
  double updated_at;
  double favorite_at;
  double watch_later_at;
  double watched_at;
  double progress;
  episode_text id;
  episode_text title;
  episode_text summary;
  episode_text url;
  episode_text path_id;
} episode_row;

typedef struct episode_rows episode_rows;

/// How the rows of an upsert page are drawn.
typedef enum {
  episode_page_random,  // from all rows
  episode_page_hot,     // from the 2,000 most recently updated rows
} episode_page_kind;

/// Generates `count` rows from `seed`, in arrival order. Returns NULL without memory.
episode_rows *_Nullable episode_rows_create(size_t count, uint64_t seed);
void episode_rows_destroy(episode_rows *_Nonnull rows);

size_t episode_rows_count(const episode_rows *_Nonnull rows);
size_t episode_rows_path_count(const episode_rows *_Nonnull rows);

/// Returns the rows in arrival order, as they were generated. Pages do not change them.
const episode_row *_Nonnull episode_rows_all(const episode_rows *_Nonnull rows);

/// Draws the next upsert page of `length` distinct rows: each gets the newest `updated_at`, a new
/// title, new progress and a new random `watch_later_at`, in addition to the changes of all pages
/// drawn before. The page lives as long as `rows`. Returns NULL without memory, or if `length`
/// exceeds the number of rows to draw from.
const episode_row *_Nullable episode_rows_next_page(
    episode_rows *_Nonnull rows, episode_page_kind kind, size_t length);

#endif
