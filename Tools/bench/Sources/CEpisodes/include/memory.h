// The one allocator call that Swift's Glibc module does not offer.

#ifndef MEMORY_H
#define MEMORY_H

#include <malloc.h>

/// Gives free heap memory back to the system, so that what one candidate freed does not hide what
/// the next one takes.
static inline void release_free_memory(void) { malloc_trim(0); }

#endif
