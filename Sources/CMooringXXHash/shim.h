#pragma once
// Header-only use: nothing of libxxhash is linked, so its version at run time cannot change a
// stored hash. XXH3 is stable since libxxhash 0.8.0.
#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct {
  uint64_t high, low;
} mooring_hash128;

// The names of xxhash.h are macros in this mode, which Swift cannot see.
static inline mooring_hash128 mooring_xxh3_128(const void *bytes, size_t count) {
  XXH128_hash_t hash = XXH3_128bits(bytes, count);
  mooring_hash128 result = {hash.high64, hash.low64};
  return result;
}

static inline uint64_t mooring_xxh3_64(const void *bytes, size_t count) {
  return XXH3_64bits(bytes, count);
}
