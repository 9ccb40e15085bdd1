import Foundation

/// Runs `body` on the threads of Swift's concurrency runtime and blocks the calling thread until it
/// has ended.
///
/// An asynchronous `main` would end the main thread while the program runs, and valgrind crashes
/// when that happens.
///
/// - Throws: The error that `body` throws.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value
{
  let outcome = Outcome<Value>()
  let done = DispatchSemaphore(value: 0)
  Task {
    do { outcome.result = .success(try await body()) } catch { outcome.result = .failure(error) }
    done.signal()
  }
  done.wait()
  guard let result = outcome.result else { throw CancellationError() }
  return try result.get()
}

// SAFETY: `result` is written before the semaphore is signaled and read after the wait for it.
private final class Outcome<Value: Sendable>: @unchecked Sendable {
  var result: Result<Value, any Error>?
}
