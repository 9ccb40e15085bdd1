import EntityStore

extension BoundedThreads {
  /// Runs a closure that blocks, while the caller's thread goes on.
  func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      submit { continuation.resume(with: Result { try body() }) }
    }
  }
}
