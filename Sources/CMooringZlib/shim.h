#ifndef MOORING_ZLIB_H
#define MOORING_ZLIB_H

#include <zlib.h>

// inflateInit2 is a macro, which Swift does not import. Raw DEFLATE has no header and no checksum.
static inline int mooring_inflate_raw_init(z_stream *stream) {
  return inflateInit2(stream, -MAX_WBITS);
}

#endif
