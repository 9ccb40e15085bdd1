import Glibc

/// True if a sanitizer is linked in, which needs additional memory and stack for its own records.
public let isSanitized =
  dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
