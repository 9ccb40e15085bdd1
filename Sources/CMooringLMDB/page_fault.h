#ifndef MOORING_PAGE_FAULT_H
#define MOORING_PAGE_FAULT_H

// Turns a fault inside the map of a store or inside the code of LMDB, and every fault after a write
// to a store, into a message and exit code 65. LMDB trusts its pages: damage in them may lead it to
// an address that is not in the map, such as that of a part which only trees with duplicate values
// have. A write copies a page to the heap before it changes it. There, sizes and offsets of a
// damaged page lead the C library, called by LMDB, beyond the copy: it faults, or it
// overwrites other memory of the heap. Then any thread may fault or call abort(3), also after the
// write.
//
// In C, because a signal handler may run nothing but async-signal-safe code: no Swift runtime, no
// lazy initialisation of globals, no reference counts. The functions are inline, as the module of
// a system library has no source files. The state is static within a function, as the Swift
// compiler emits no variables of a header; so all calls must be in one Swift file (FaultGuard).

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

// Of glibc: the last part of the path that the program was called by.
extern char *program_invocation_short_name;

// A process has few stores open; the bound keeps the table free of allocation.
#define MOORING_FAULT_MAPS_MAX 16

struct mooring_fault_map {
  _Atomic(uintptr_t) start;
  _Atomic(uintptr_t) end;
};

struct mooring_fault_state {
  struct mooring_fault_map maps[MOORING_FAULT_MAPS_MAX];
  struct mooring_fault_map code;
  atomic_int has_written;
  struct sigaction previous[3];  // as in mooring_fault_place
};

static inline struct mooring_fault_state *mooring_fault_state(void) {
  static struct mooring_fault_state state;
  return &state;
}

/// The address of the instruction that faulted, or 0 on a processor that is not known here.
static inline uintptr_t mooring_fault_instruction(void *context) {
#if defined(__x86_64__)
  return (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[16];  // REG_RIP
#elif defined(__aarch64__)
  return (uintptr_t)((ucontext_t *)context)->uc_mcontext.pc;
#else
  (void)context;
  return 0;
#endif
}

static inline int mooring_fault_is_in(struct mooring_fault_map *map, uintptr_t address) {
  uintptr_t end = atomic_load(&map->end);
  return end != 0 && address >= atomic_load(&map->start) && address < end;
}

static inline int mooring_fault_place(int number) {
  return number == SIGSEGV ? 0 : number == SIGBUS ? 1 : 2;
}

static inline void mooring_fault_handler(int number, siginfo_t *info, void *context) {
  static const char message[] =
      ": the store is damaged (a page of data.mdb cannot be read); run `mooring check`\n";
  static const char writing[] =
      ": a write to the store faulted, as on a damaged page of data.mdb; run `mooring check`\n";
  struct mooring_fault_state *state = mooring_fault_state();
  // si_code is positive for a fault, and not for kill(2) and abort(3).
  int is_fault = info->si_code > 0;
  int is_ours = is_fault && mooring_fault_is_in(&state->code, mooring_fault_instruction(context));
  int is_after_write = (is_fault || (number == SIGABRT && info->si_pid == getpid()))
      && atomic_load(&state->has_written);
  for (int i = 0; i < MOORING_FAULT_MAPS_MAX; i++) {
    is_ours |= is_fault && mooring_fault_is_in(&state->maps[i], (uintptr_t)info->si_addr);
  }
  if (is_ours || is_after_write) {
    const char *name = program_invocation_short_name;
    ssize_t ignored = write(2, name, strlen(name));
    ignored = is_ours ? write(2, message, sizeof message - 1)
                      : write(2, writing, sizeof writing - 1);
    (void)ignored;
    _exit(65);
  }
  // Not ours: what was there before takes it. A fault comes again when this returns, and so does
  // abort(3); another signal that was sent does not, so it is sent again.
  sigaction(number, &state->previous[mooring_fault_place(number)], NULL);
  if (!is_fault) raise(number);
}

/// Installs the handler for SIGSEGV, SIGBUS and SIGABRT, with a stack of its own for the calling
/// thread.
/// Returns 0, or -1 with errno.
static inline int mooring_fault_install(void) {
  stack_t stack;
  if (sigaltstack(NULL, &stack) != 0) return -1;
  if (stack.ss_flags & SS_DISABLE) {
    memset(&stack, 0, sizeof stack);
    stack.ss_size = 64 * 1024;
    stack.ss_sp = malloc(stack.ss_size);  // for as long as the thread lives
    if (stack.ss_sp == NULL || sigaltstack(&stack, NULL) != 0) return -1;
  }
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = mooring_fault_handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGSEGV, &action, &mooring_fault_state()->previous[0]) != 0) return -1;
  if (sigaction(SIGBUS, &action, &mooring_fault_state()->previous[1]) != 0) return -1;
  return sigaction(SIGABRT, &action, &mooring_fault_state()->previous[2]);
}

/// Adds a range of addresses to the table. Returns its place, or -1 if the table is full. Not for
/// two threads at once.
static inline int mooring_fault_add(uintptr_t start, uintptr_t end) {
  for (int i = 0; i < MOORING_FAULT_MAPS_MAX; i++) {
    if (atomic_load(&mooring_fault_state()->maps[i].end) != 0) continue;
    atomic_store(&mooring_fault_state()->maps[i].start, start);
    atomic_store(&mooring_fault_state()->maps[i].end, end);
    return i;
  }
  return -1;
}

/// Sets the range of LMDB's code.
static inline void mooring_fault_set_code(uintptr_t start, uintptr_t end) {
  atomic_store(&mooring_fault_state()->code.start, start);
  atomic_store(&mooring_fault_state()->code.end, end);
}

/// Notes that this process writes to a store.
static inline void mooring_fault_note_write(void) {
  atomic_store(&mooring_fault_state()->has_written, 1);
}

/// Removes a range by its place.
static inline void mooring_fault_remove(int place) {
  if (place >= 0) atomic_store(&mooring_fault_state()->maps[place].end, 0);
}

#endif
