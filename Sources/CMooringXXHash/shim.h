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

// The same hash of bytes that come in pieces. The state is null when there is no memory.
typedef struct mooring_hash_state mooring_hash_state;

static inline mooring_hash_state *mooring_xxh3_start(void) {
  XXH3_state_t *state = XXH3_createState();
  if (state) XXH3_128bits_reset(state);
  return (mooring_hash_state *)state;
}

static inline void mooring_xxh3_add(mooring_hash_state *state, const void *bytes, size_t count) {
  XXH3_128bits_update((XXH3_state_t *)state, bytes, count);
}

static inline mooring_hash128 mooring_xxh3_finish(mooring_hash_state *state) {
  XXH128_hash_t hash = XXH3_128bits_digest((XXH3_state_t *)state);
  XXH3_freeState((XXH3_state_t *)state);
  mooring_hash128 result = {hash.high64, hash.low64};
  return result;
}
