// The allocator call that Swift's Glibc module lacks.

#ifndef MEMORY_H
#define MEMORY_H

#include <malloc.h>

/// Returns free heap memory to the system, so that memory freed by one candidate does not hide the
/// allocations of the next one.
static inline void release_free_memory(void) { malloc_trim(0); }

#endif
