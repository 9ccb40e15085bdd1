import Foundation
import Glibc

/// True if a sanitizer is linked in, which needs additional memory and stack for its own records.
public let isSanitized =
  dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

/// The options of the sanitizers, for children with an environment of their own.
public let sanitizerVariables = ProcessInfo.processInfo.environment.filter {
  ["ASAN_OPTIONS", "TSAN_OPTIONS"].contains($0.key)
}
