import Dispatch
import EntityModel
import Foundation
import LMDB
import Migrations
import SystemSupport
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

@Suite struct BatchInsertTests {
  private func items(_ names: String...) -> [[String: Value]] {
    names.map { ["name": .string($0), "wins": 1] }
  }

  @Test func aSequenceIsInsertedAndEachResultTypeReturnsItsResult() async throws {
    try await withVenues { temporary in
      let store = temporary.store
      let some = try await store.execute(BatchInsertRequest("Venue", items("a", "b", "c")))
      #expect(some.outcome == .count(3) && some.counts.inserted == 3)
      let more = try await store.execute(
        BatchInsertRequest("Venue", items("d", "e"), resultType: .identifiers))
      #expect(more.outcome == .identifiers([venue(4), venue(5)]))
      let last = try await store.execute(
        BatchInsertRequest("Venue", items("f"), resultType: .status))
      #expect(last.outcome == .status(true))
      let none = try await store.execute(BatchInsertRequest("Venue", [[String: Value]]()))
      #expect(none.outcome == .count(0))
      #expect(try store.column("name") == ["a", "b", "c", "d", "e", "f"])
      // What an item does not name has its default.
      #expect(try store.column("isFavorite") == .init(repeating: false, count: 6))
      #expect(try store.chunkedWrites == 0)
    }
  }

  @Test func typedEntitiesAreInsertedWithTheirLinks() async throws {
    try await withVenues(1) { temporary in
      let store = temporary.store
      let venues = (0..<5).map { Venue(name: "t\($0)", wins: $0, owner: ToOne(venue(1))) }
      #expect(try await store.execute(BatchInsertRequest(venues)).outcome == .count(5))
      let changed = venues.map { Venue(name: $0.name, wins: $0.wins + 50) }
      let stream = AsyncStream { continuation in
        for venue in changed { continuation.yield(venue) }
        continuation.finish()
      }
      let result = try await store.execute(
        BatchInsertRequest(stream, onConflict: .update(by: ["name"])))
      #expect(result.counts == .init(updated: 5))
      #expect(try store.fetch(FetchDescriptor<Venue>()).map(\.wins) == [0, 50, 51, 52, 53, 54])
    }
  }

  @Test func aConflictFailsIsSkippedOrUpdatesWhatIsAssigned() async throws {
    try await withVenues { temporary in
      let store = temporary.store
      try await store.write {
        _ = try $0.insert("Venue", ["name": "a", "wins": 7, "zone": "east", "slug": "s"])
      }
      let ids: [BatchInsertRequest.Conflict: [Value]] = [
        .skip: [7, 1], .update(by: ["name"]): [1, 1],
      ]
      await #expect(throws: BatchItemError.self) {
        try await store.execute(BatchInsertRequest("Venue", items("a", "b")))
      }
      #expect(try store.column("wins") == [7])
      for conflict in [BatchInsertRequest.Conflict.skip, .update(by: ["name"])] {
        let result = try await store.execute(
          BatchInsertRequest("Venue", items("a", "b"), onConflict: conflict))
        #expect(
          result.counts
            == (conflict == .skip ? .init(inserted: 1, skipped: 1) : .init(updated: 2)))
        #expect(try store.column("wins") == ids[conflict])
      }
      // The update has left alone what the item does not name.
      #expect(try store.column("zone") == ["east", .null])
      // A clash in another index is one still.
      let other: [[String: Value]] = [["name": "c", "slug": "s"]]
      await #expect(throws: BatchItemError.self) {
        try await store.execute(
          BatchInsertRequest("Venue", other, onConflict: .update(by: ["name"])))
      }
      let unknown = BatchInsertRequest("Venue", items("x"), onConflict: .update(by: ["wins"]))
      #expect(await code { try await store.execute(unknown) } == .invalidRequest)
      let missing = BatchInsertRequest("Venues", items("x"))
      #expect(await code { try await store.execute(missing) } == .unknownEntity)
    }
  }

  @Test func aUniqueClashInsideOneBatchNamesItemAndRecord() async throws {
    try await withVenues(1) { temporary in
      do {
        _ = try await temporary.store.execute(
          BatchInsertRequest("Venue", items("a", "b", "c", "b", "d")))
        Issue.record("two venues have one name")
      } catch let error as BatchItemError {
        #expect(error.item == 4)
        let cause = try #require(error.error as? StoreError)
        #expect(cause.code == .uniqueViolation && cause.property == "name")
        // The second item was the third record.
        #expect(cause.context.contains { $0 == ("record", "3") }, "\(cause)")
        #expect("\(error)".hasPrefix("item 4: another record has the same unique values"))
      }
      #expect(try temporary.store.column("name") == ["v0", "a", "b", "c"])
    }
  }

  @Test func aRefusedItemStopsTheBatchAndTheItemsBeforeStay() async throws {
    try await withVenues { temporary in
      let store = temporary.store
      var values = items("a", "b", "c", "d", "e", "f")
      values[4]["wins"] = 101
      let wrong = values
      do {
        _ = try await store.execute(
          BatchInsertRequest("Venue", wrong, options: .chunks(of: 3)))
        Issue.record("101 wins are too many")
      } catch let error as BatchItemError {
        #expect(error.item == 5)
      }
      #expect(try store.column("name") == ["a", "b", "c", "d"])
      // Put right, it goes on.
      values[4]["wins"] = 100
      let result = try await store.execute(
        BatchInsertRequest("Venue", values, options: .chunks(of: 2)))
      #expect(result.isResumed && result.outcome == .count(6))
      #expect(try store.column("name") == ["a", "b", "c", "d", "e", "f"])
    }
  }

  @Test func refusedItemsAreCollectedUpToABound() async throws {
    try await withVenues { temporary in
      var values = items("a", "a", "c", "d", "e", "f", "g")
      values[2]["wins"] = 101
      values[3]["wons"] = 1
      values[4] = ["wins": 1]
      values[5]["wins"] = "one"
      var request = BatchInsertRequest(
        "Venue", values, resultType: .status, options: .chunks(of: 2))
      request.itemErrors = .collect(max: 4)
      let result = try await temporary.store.execute(request)
      #expect(result.outcome == .status(false))
      #expect(result.counts == .init(inserted: 2, refused: 5))
      #expect(result.errors.map(\.item) == [2, 3, 4, 5])
      #expect(
        result.errors.map { ($0.error as? StoreError)?.code }
          == [.uniqueViolation, .validation, .unknownAttribute, .validation])
      #expect(try temporary.store.column("name") == ["a", "g"])
      request.options.without = [.validation]
      let again = try await temporary.store.execute(request)
      // 101 wins are let through; what else is wrong is so still.
      #expect(again.counts == .init(inserted: 1, refused: 6))
    }
  }

  @Test func anElementThatCannotBeReadIsARefusedItem() async throws {
    struct NoNumber: Error {}
    try await withVenues { temporary in
      let source = AsyncStream { continuation in
        for text in ["1", "x", "3"] { continuation.yield(text) }
        continuation.finish()
      }
      var request = BatchInsertRequest("Venue", from: source) { text, _ in
        guard let wins = Int64(text) else {
          return BatchItem(failure: NoNumber(), place: "line \(text)")
        }
        return BatchItem(["name": .string(text), "wins": .int64(wins)])
      }
      request.itemErrors = .collect(max: 9)
      let result = try await temporary.store.execute(request)
      #expect(result.counts == .init(inserted: 2, refused: 1))
      #expect(result.errors.first?.item == 2 && result.errors.first?.place == "line x")
      #expect(result.errors.first?.error is NoNumber)
    }
  }

  @Test func itemsThatHaveBeenReadShareACommit() async throws {
    try await withVenues { temporary in
      let store = try temporary.openWithLongCommits()
      let opens = DispatchSemaphore(value: 0)
      store.write { _ in
        opens.wait()
      } completion: { _ in
      }
      let source = CountedItems(count: 50, bytes: 10)
      let commits = Locked<[Int64]>([])
      async let result = store.execute(
        BatchInsertRequest("Venue", source, options: .chunks(of: 10))
      ) { progress in
        commits.withLock { $0.append(progress.done) }
      }
      // Two chunks are read before the batch can write.
      while source.handedOut.withLock({ $0 }) < 20 { await Task.yield() }
      opens.signal()
      #expect(try await result.outcome == .count(50))
      let first = try #require(commits.withLock { $0.first })
      #expect(first >= 20)
      #expect(commits.withLock { $0.last } == 50)
    }
  }

  @Test func aTransactionNeverWaitsForItems() async throws {
    try await withVenues { temporary in
      let store = try temporary.openWithLongCommits()
      let (source, continuation) = AsyncStream.makeStream(of: [String: Value].self)
      for number in 0..<10 { continuation.yield(["name": .string("n\(number)")]) }
      let commits = Locked<[Int64]>([])
      let result = try await store.execute(
        BatchInsertRequest("Venue", source, options: .chunks(of: 10))
      ) { progress in
        commits.withLock { $0.append(progress.done) }
        // The source gives its last item only after the commit of the others.
        if progress.done == 10 {
          continuation.yield(["name": "last"])
          continuation.finish()
        }
      }
      #expect(result.outcome == .count(11))
      #expect(commits.withLock { $0 } == [10, 11])
    }
  }

  @Test func aCancelledBatchDoesNotMistakeTheEndOfItsStreamForTheLastItem() async throws {
    try await withVenues { temporary in
      let store = temporary.store
      let (source, continuation) = AsyncStream.makeStream(of: [String: Value].self)
      for item in items("a", "b") { continuation.yield(item) }
      let request = BatchInsertRequest("Venue", source, options: .chunks(of: 2))
      let (commits, committed) = AsyncStream.makeStream(of: Int64.self)
      let task = Task {
        try await store.execute(request) { committed.yield($0.done) }
      }
      var iterator = commits.makeAsyncIterator()
      #expect(await iterator.next() == 2)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try store.chunkedWrites == 1)
      let again = BatchInsertRequest("Venue", items("a", "b", "c"), options: .chunks(of: 2))
      let result = try await store.execute(again)
      #expect(result.isResumed && result.outcome == .count(3))
    }
  }

  @Test func theSourceIsNeverMoreThanTwoChunksAhead() async throws {
    try await withVenues { temporary in
      let source = CountedItems(count: 500, bytes: 10)
      let ahead = Locked<[Int]>([])
      let result = try await temporary.store.execute(
        BatchInsertRequest("Venue", source, options: .chunks(of: 20))
      ) { progress in
        ahead.withLock { $0.append(source.handedOut.withLock { $0 } - Int(progress.done)) }
      }
      #expect(result.outcome == .count(500))
      // A chunk may end early, by time; then the next ones take the rest of what was read.
      #expect(ahead.withLock { $0.count } >= 25)
      #expect(ahead.withLock { $0.max() ?? 0 } <= 40)
    }
  }

  @Test func largeItemsAreTakenFewAtATime() async throws {
    try await withVenues { temporary in
      let source = CountedItems(count: 30, bytes: 1 << 20)
      let ahead = Locked<[Int]>([])
      _ = try await temporary.store.execute(BatchInsertRequest("Venue", source)) { progress in
        ahead.withLock { $0.append(source.handedOut.withLock { $0 } - Int(progress.done)) }
      }
      #expect(try temporary.store.column("name").count == 30)
      let itemsMax = StoreLimits.batchBytesMax >> 20
      #expect(ahead.withLock { $0.max() ?? 0 } <= 2 * itemsMax)
    }
  }

  @Test func anInterruptedInsertResumesOnlyWithTheSameItems() async throws {
    try await withVenues { temporary in
      let store = temporary.store
      let values = (0..<10).map { ["name": Value.string("n\($0)")] }
      var request = BatchInsertRequest("Venue", values, options: .chunks(of: 3))
      let stopped = request
      let task = Task {
        try await store.execute(stopped) { _ in withUnsafeCurrentTask { $0?.cancel() } }
      }
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try store.column("name").count == 3)

      for other in [values.reversed(), Array(values.prefix(2))] {
        let request = BatchInsertRequest("Venue", other, options: .chunks(of: 3))
        #expect(await code { try await store.execute(request) } == .invalidRequest)
      }
      // Under another name it is another batch.
      request.options.name = "mine"
      await #expect(throws: BatchItemError.self) { try await store.execute(request) }
      request.options.name = nil
      let result = try await store.execute(request)
      #expect(result.isResumed && result.outcome == .count(10))
      #expect(try store.column("name") == values.map { $0["name"] ?? .null })
    }
  }

  @Test func aSourceThatFailsLeavesTheItemsBefore() async throws {
    struct Broken: Error {}
    try await withVenues { temporary in
      let source = AsyncThrowingStream<[String: Value], any Error> { continuation in
        for name in ["a", "b", "c"] { continuation.yield(["name": .string(name)]) }
        continuation.finish(throwing: Broken())
      }
      await #expect(throws: Broken.self) {
        try await temporary.store.execute(
          BatchInsertRequest("Venue", source, options: .chunks(of: 2)))
      }
      let names = try temporary.store.column("name")
      #expect(names == ["a", "b", "c"])
    }
  }
}

extension TemporaryStore {
  /// Opens the store again, with commits that do not end by the clock.
  fileprivate func openWithLongCommits() throws -> Store {
    try openStore(
      at: store.folder, migrations: [VenueSchema.source], migrate: .never,
      commitDuration: .seconds(600))
  }
}

/// A sequence of items of a given size that counts the ones it has returned.
private struct CountedItems: AsyncSequence, Sendable {
  let count: Int
  let bytes: Int
  let handedOut = Locked(0)

  struct AsyncIterator: AsyncIteratorProtocol {
    let items: CountedItems

    mutating func next() async -> [String: Value]? {
      let number = items.handedOut.withLock { handedOut -> Int? in
        guard handedOut < items.count else { return nil }
        handedOut += 1
        return handedOut
      }
      return number.map {
        ["name": .string("n\($0)"), "photo": .data(Data(repeating: 7, count: items.bytes))]
      }
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(items: self) }
}
