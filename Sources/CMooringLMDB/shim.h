#ifndef MOORING_LMDB_H
#define MOORING_LMDB_H

#include <lmdb.h>
#include "page_fault.h"

/// Begins to load the bytes at an address into the cache of the processor. Any address is valid.
static inline void mooring_prefetch(const void *address) { __builtin_prefetch(address); }

/// Makes an environment usable again whose meta page LMDB could not write. Nothing else can: LMDB
/// notes the failure in its flags and then refuses every transaction, although the state of the
/// last commit is intact, on the device and in memory.
///
/// Returns 0 if the flags are not where this function knows them to be; nothing is changed then.
static inline int mooring_env_forget_failure(MDB_env *environment) {
  // The first members of MDB_env in LMDB 0.9.
  struct Head { int data, lock, meta; unsigned flags; };
  const unsigned fatal = 0x80000000u;
  const unsigned visible = MDB_NOSYNC | MDB_NOMETASYNC | MDB_MAPASYNC | MDB_NOMEMINIT |
    MDB_FIXEDMAP | MDB_NOSUBDIR | MDB_RDONLY | MDB_WRITEMAP | MDB_NOTLS | MDB_NOLOCK |
    MDB_NORDAHEAD;
  struct Head *head = (struct Head *)environment;
  int descriptor = -1;
  unsigned flags = 0;
  if (mdb_env_get_fd(environment, &descriptor) != 0 || head->data != descriptor) return 0;
  if (mdb_env_get_flags(environment, &flags) != 0 || (head->flags & visible) != flags) return 0;
  __atomic_fetch_and(&head->flags, ~fatal, __ATOMIC_SEQ_CST);
  return 1;
}

#endif
