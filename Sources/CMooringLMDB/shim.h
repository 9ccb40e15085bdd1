#ifndef MOORING_LMDB_H
#define MOORING_LMDB_H

#include <lmdb.h>
#include "page_fault.h"

/// Begins to load the bytes at an address into the cache of the processor. Any address is valid.
static inline void mooring_prefetch(const void *address) { __builtin_prefetch(address); }

#endif
