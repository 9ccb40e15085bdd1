import Dispatch
import Foundation

/// Runs a body that Ctrl-C cancels.
///
/// - Throws: What the body throws: `CancellationError` if it ends because of that.
func untilInterrupt<R: Sendable>(
  _ body: @escaping @Sendable () async throws -> R
) async throws -> R {
  let interrupt = DispatchSource.makeSignalSource(
    signal: SIGINT, queue: DispatchQueue(label: "interrupt"))
  defer { interrupt.cancel() }
  let (interrupts, reported) = AsyncStream<Void>.makeStream()
  interrupt.setEventHandler { reported.yield() }
  await withCheckedContinuation { registered in
    interrupt.setRegistrationHandler { registered.resume() }
    interrupt.resume()
  }
  let task = Task { try await body() }
  let watch = Task { for await _ in interrupts { task.cancel() } }
  defer { watch.cancel() }
  return try await task.value
}
