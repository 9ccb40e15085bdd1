#ifndef MOORING_LMDB_H
#define MOORING_LMDB_H

#include <lmdb.h>
#include "page_fault.h"

#endif
