import SystemSupport

/// The items that a task reads from the source of a batch insert while another one writes those
/// before them. Used by one reading and one writing task.
final class ItemBuffer: Sendable {
  private struct State {
    var chunks: [TakenItems] = []
    /// The end of the reading: its error, or `nil` after the last items.
    var end: Result<Void, any Error>?
    /// True if no items are written any more.
    var isClosed = false
    /// The reading task, while it waits for room.
    var reader: CheckedContinuation<Void, Never>?
    /// The writing task, while it waits for items.
    var writer: CheckedContinuation<Void, Never>?
  }

  /// One chunk is written while another one waits.
  private static let chunksMax = 2

  private let state = Locked(State())

  // MARK: The reading task

  /// Adds the items of a chunk, and waits until there is room for another one.
  ///
  /// - Returns: False if no further items are needed.
  func add(_ items: TakenItems) async -> Bool {
    let writer = state.withLock { state in
      state.chunks.append(items)
      return state.writer.take()
    }
    writer?.resume()
    await withCheckedContinuation { continuation in
      let hasToWait = state.withLock { state in
        if state.isClosed || state.chunks.count < Self.chunksMax { return false }
        state.reader = continuation
        return true
      }
      if !hasToWait { continuation.resume() }
    }
    return state.withLock { !$0.isClosed }
  }

  /// Ends the reading.
  func end(_ result: Result<Void, any Error>) {
    let writer = state.withLock { state in
      state.end = result
      return state.writer.take()
    }
    writer?.resume()
  }

  // MARK: The writing task

  /// Waits until items from a number on are there.
  ///
  /// - Throws: The error of the source, if it has no such items.
  func wait(for number: Int64) async throws {
    while try !isReady(number) {
      await withCheckedContinuation { continuation in
        let hasToWait = state.withLock { state in
          if state.end != nil || state.chunks.first(atOrAfter: number) != nil { return false }
          state.writer = continuation
          return true
        }
        if !hasToWait { continuation.resume() }
      }
    }
  }

  /// Returns items from a number on, and forgets those before them.
  ///
  /// - Returns: `nil` if the source has not given them yet.
  func items(from number: Int64) -> TakenItems? {
    let (items, reader) = state.withLock { state in
      while let first = state.chunks.first, first.end <= number, !first.areLast {
        state.chunks.removeFirst()
      }
      let hasRoom = state.chunks.count < Self.chunksMax
      return (state.chunks.first, hasRoom ? state.reader.take() : nil)
    }
    reader?.resume()
    return items
  }

  /// Ends the writing, for a reading task that waits.
  func close() {
    let reader = state.withLock { state in
      state.isClosed = true
      return state.reader.take()
    }
    reader?.resume()
  }

  private func isReady(_ number: Int64) throws -> Bool {
    try state.withLock { state in
      if state.chunks.first(atOrAfter: number) != nil { return true }
      try state.end?.get()
      return false
    }
  }
}

extension [TakenItems] {
  /// Returns the first items that have an item from a number on, or the end of the source.
  fileprivate func first(atOrAfter number: Int64) -> TakenItems? {
    first { $0.end > number || $0.areLast }
  }
}
