// One connection of libcurl, as a program of its own would use it: kept open from page to page.

#ifndef FEED_CLIENT_H
#define FEED_CLIENT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct feed_client feed_client;

/// What a server has answered; all of it is valid until the next request.
typedef struct {
  long status;
  /// `padding` more bytes behind it may be read.
  const char *_Nullable body;
  size_t length;
  /// As it was sent; empty if it was not.
  const char *_Nullable etag;
} feed_response;

/// What simdjson reads behind a document, without looking at it.
enum { feed_response_padding = 64 };

/// NULL when memory is short.
feed_client *_Nullable feed_client_open(void);
void feed_client_close(feed_client *_Nonnull client);

/// Asks for a page; with an `etag`, only if it has changed since. Returns NULL, or what went wrong.
const char *_Nullable feed_client_get(
    feed_client *_Nonnull client, const char *_Nonnull url, const char *_Nullable etag,
    feed_response *_Nonnull response);

#ifdef __cplusplus
}
#endif

#endif
