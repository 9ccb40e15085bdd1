/// Any number of wakes are one, until it is taken.
final class Wakeups: Sendable {
  let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    continuation.yield()
  }

  func wake() { continuation.yield() }
  func finish() { continuation.finish() }
}
