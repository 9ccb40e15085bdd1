import SystemSupport

/// Lines that come from elsewhere, for a test that waits for one of them.
public final class Journal: Sendable {
  private struct State {
    var lines: [String] = []
    var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
    var lastWaiting = 0
  }

  private let state = Locked(State())

  public init() {}

  public var lines: [String] { state.withLock { $0.lines } }

  public func add(_ line: String) {
    let waiting = state.withLock { state in
      state.lines.append(line)
      return Array(state.waiting.values)
    }
    for continuation in waiting { continuation.yield() }
  }

  /// Waits for a line that has all the parts.
  ///
  /// - Parameter start: The number of lines to skip.
  /// - Returns: How many lines there are up to the one that was found, to look for another one
  ///   after it.
  /// - Throws: `CancellationError` when the test's time is up.
  @discardableResult
  public func wait(for parts: String..., after start: Int = 0) async throws -> Int {
    let (news, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.lastWaiting += 1
      state.waiting[state.lastWaiting] = continuation
      return state.lastWaiting
    }
    defer { state.withLock { $0.waiting[number] = nil } }
    continuation.yield()
    for await _ in news {
      let found = lines.dropFirst(start).firstIndex { line in parts.allSatisfy(line.contains) }
      if let found { return found + 1 }
    }
    throw CancellationError()
  }
}
