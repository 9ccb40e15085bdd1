// A fast conversion of pages of the home feed to the rows of the C candidates: simdjson, which
// Mooring uses, too, and one copy of each string.

#ifndef FEED_ROWS_H
#define FEED_ROWS_H

#include <stddef.h>

#include "episode_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The episodes of the pages that were read, collected until they are cleared.
typedef struct feed_rows feed_rows;

/// Creates an empty collection. Returns NULL without memory.
feed_rows *_Nullable feed_rows_create(void);
void feed_rows_destroy(feed_rows *_Nonnull rows);
void feed_rows_clear(feed_rows *_Nonnull rows);

/// Adds the episodes of a page, each with the user's own values. The page must be followed by
/// `feed_response_padding` readable bytes. `next` is the address of the next page, "" after the
/// last one, and valid until the next call. Returns NULL, or the error text.
const char *_Nullable feed_rows_read(
    feed_rows *_Nonnull rows, const char *_Nonnull page, size_t length,
    const char *_Nonnull *_Nonnull next);

/// Returns all collected episodes, which are valid until more are read.
const episode_row *_Nullable feed_rows_all(const feed_rows *_Nonnull rows, size_t *_Nonnull count);

#ifdef __cplusplus
}
#endif

#endif
