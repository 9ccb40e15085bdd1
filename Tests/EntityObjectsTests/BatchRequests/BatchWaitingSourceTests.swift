import EntityModel
import EntityObjects
import TestSupport
import Testing

@testable import EntityStore

/// Batch inserts whose source keeps its reader waiting, also after the reader's task was cancelled.
@Suite(.timeLimit(.minutes(5))) struct BatchWaitingSourceTests {
  @Test func aRefusedItemIsReportedWhileTheSourceWaits() async throws {
    try await withVenues { temporary in
      let (end, ending) = AsyncStream.makeStream(of: Void.self)
      defer { ending.finish() }
      let source = WaitingItems(names: ["a", "a"], end: end)
      await #expect(throws: BatchItemError.self) {
        try await temporary.store.execute(
          BatchInsertRequest("Venue", source, options: .chunks(of: 2)))
      }
      let names = try temporary.store.column("name")
      #expect(names == ["a"])
    }
  }

  @Test func aCancelledBatchEndsWhileTheSourceWaits() async throws {
    try await withVenues { temporary in
      let store = temporary.store
      let (end, ending) = AsyncStream.makeStream(of: Void.self)
      defer { ending.finish() }
      let source = WaitingItems(names: ["a", "b"], end: end)
      let task = Task {
        try await store.execute(BatchInsertRequest("Venue", source, options: .chunks(of: 2))) {
          _ in withUnsafeCurrentTask { $0?.cancel() }
        }
      }
      await #expect(throws: CancellationError.self) { try await task.value }
      let names = try store.column("name")
      #expect(names == ["a", "b"])
      let all = ["a", "b", "c"].map { ["name": Value.string($0)] }
      let result = try await store.execute(
        BatchInsertRequest("Venue", all, options: .chunks(of: 2)))
      #expect(result.isResumed && result.outcome == .count(3))
    }
  }
}

/// A sequence of items that then waits for the end of a stream.
private struct WaitingItems: AsyncSequence, Sendable {
  let names: [String]
  let ending: Task<Void, Never>

  init(names: [String], end: AsyncStream<Void>) {
    self.names = names
    // The end of another task is waited for whether or not the waiting one is cancelled.
    ending = Task.detached { for await _ in end {} }
  }

  struct AsyncIterator: AsyncIteratorProtocol {
    var left: ArraySlice<String>
    let ending: Task<Void, Never>

    mutating func next() async -> [String: Value]? {
      if let name = left.popFirst() { return ["name": .string(name)] }
      await ending.value
      return nil
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(left: names[...], ending: ending) }
}
