// The results of reads of the C candidates: structs whose strings are copies, so that they outlive
// the snapshot.

#ifndef EPISODE_RESULT_H
#define EPISODE_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include "episode_rows.h"

/// The lists of the home page.
typedef enum {
  episode_list_recent,
  episode_list_favorites,
  episode_list_watch_later,
  episode_list_free,
  episode_list_history,
  episode_list_path,
} episode_list;

/// Two fields of an episode.
typedef struct {
  episode_text title;
  double updated_at;
} episode_card;

/// The filter of the scan. Neither attribute has an index.
typedef struct {
  int64_t duration_at_least;
  double progress_above;
} episode_filter;

/// The `count` rows of the last read of all fields, or the cards of the last read of two.
typedef struct {
  episode_row *_Nonnull rows;
  episode_card *_Nonnull cards;
  size_t count;
  size_t capacity;
  char *_Nonnull text;
  size_t used;
} episode_result;

/// Allocates room for `capacity` rows with all their strings. Returns NULL without memory.
episode_result *_Nullable episode_result_create(size_t capacity);
void episode_result_destroy(episode_result *_Nonnull result);

/// Copies a string into the result: at most five for each row, with 512 bytes in total.
episode_text episode_result_copy(episode_result *_Nonnull result, episode_text text);

#endif
