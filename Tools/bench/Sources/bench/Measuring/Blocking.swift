import Foundation

/// Runs `body` on Swift's own threads and blocks this one until it is done.
///
/// An asynchronous `main` would do the same, but it ends the main thread while the program runs,
/// which valgrind does not survive.
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

// SAFETY: `result` is written before the semaphore is signaled and read after it was waited for.
private final class Outcome<Value: Sendable>: @unchecked Sendable {
  var result: Result<Value, any Error>?
}
