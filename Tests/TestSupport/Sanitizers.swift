import Glibc

/// Whether a sanitizer is linked in, which keeps books of its own in the process's memory and on
/// its stacks.
public let isSanitized =
  dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
