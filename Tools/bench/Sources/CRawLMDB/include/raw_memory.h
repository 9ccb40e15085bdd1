// The one allocator call that Swift's Glibc module does not offer.

#ifndef RAW_MEMORY_H
#define RAW_MEMORY_H

#include <malloc.h>

/// Gives free heap memory back to the system, so that what one candidate freed does not hide what
/// the next one takes.
static inline void raw_release_free_memory(void) { malloc_trim(0); }

#endif
