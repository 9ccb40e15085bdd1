#ifndef MOORING_MALLOC_H
#define MOORING_MALLOC_H

// glibc's own header, which is not part of Swift's module Glibc.
#include <malloc.h>

#endif
