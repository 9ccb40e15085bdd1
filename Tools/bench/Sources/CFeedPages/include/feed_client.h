// One connection of libcurl that stays open from page to page.

#ifndef FEED_CLIENT_H
#define FEED_CLIENT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct feed_client feed_client;

/// The response of a server, valid until the next request.
typedef struct {
  long status;
  /// The body, followed by `feed_response_padding` readable bytes.
  const char *_Nullable body;
  size_t length;
  /// The header as it was sent; empty without one.
  const char *_Nullable etag;
} feed_response;

/// The bytes after a document that simdjson may read and ignores.
enum { feed_response_padding = 64 };

/// Opens a client. Returns NULL without memory.
feed_client *_Nullable feed_client_open(void);
void feed_client_close(feed_client *_Nonnull client);

/// Requests a page; with an `etag`, the request is conditional. Returns NULL, or the error text.
const char *_Nullable feed_client_get(
    feed_client *_Nonnull client, const char *_Nonnull url, const char *_Nullable etag,
    feed_response *_Nonnull response);

#ifdef __cplusplus
}
#endif

#endif
