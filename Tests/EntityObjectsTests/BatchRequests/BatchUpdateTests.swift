import EntityModel
import Foundation
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore
@testable import Migrations

@Suite struct BatchUpdateTests {
  @Test func anUpdateOfThirtyVenuesCountsThirty() async throws {
    try await withVenues(30) { temporary in
      let result = try await temporary.store.execute(
        BatchUpdateRequest("Venue", set: ["isFavorite": true]))
      #expect(result.outcome == .count(30))
      #expect(!result.isResumed && result.errors.isEmpty)
      #expect(try temporary.store.column("isFavorite") == .init(repeating: true, count: 30))
      #expect(try temporary.store.chunkedWrites == 0)
    }
  }

  @Test func eachResultTypeReturnsItsResult() async throws {
    try await withVenues(9) { temporary in
      let three = FetchPredicate.comparison("wins", .greaterOrEqual, 6)
      func outcome(_ type: BatchResultType) async throws -> BatchResult.Outcome {
        let request = BatchUpdateRequest(
          "Venue", where: three, set: ["isFavorite": true], resultType: type)
        return try await temporary.store.execute(request).outcome
      }
      let status = try await outcome(.status)
      #expect(status == .status(true))
      #expect(try await outcome(.count) == .count(3))
      #expect(try await outcome(.identifiers) == .identifiers([venue(7), venue(8), venue(9)]))
    }
  }

  @Test func anExpressionReadsTheRecordAsItWasBefore() async throws {
    try await withVenues(4) { temporary in
      _ = try await temporary.store.execute(
        BatchUpdateRequest(
          "Venue",
          set: [
            "wins": try .format("wins * 2 + 1"), "score": .expression(.path("wins")),
            "zone": .expression(.path("name")), "level": "high",
          ], options: .chunks(of: 3)))
      #expect(try temporary.store.column("wins") == [1, 3, 5, 7])
      #expect(try temporary.store.column("score") == [0.0, 1.0, 2.0, 3.0])
      #expect(try temporary.store.column("zone") == ["v0", "v1", "v2", "v3"])
      #expect(try temporary.store.column("level") == .init(repeating: 2, count: 4))
    }
  }

  @Test func aRecordThatStillMatchesIsChangedOnce() async throws {
    try await withVenues(10) { temporary in
      let request = BatchUpdateRequest(
        "Venue", where: .comparison("wins", .less, 50), set: ["wins": try .format("wins + 1")],
        options: .chunks(of: 2))
      #expect(try await temporary.store.execute(request).outcome == .count(10))
      #expect(try temporary.store.column("wins") == (1...10).map { Value.int64($0) })
    }
  }

  @Test func aRecordThatNoLongerMatchesIsSkipped() async throws {
    try await withVenues(6) { temporary in
      // Each favorite ends that of its owner, of which the predicate asks.
      try await temporary.store.write { transaction in
        for number in Int64(2)...6 {
          try transaction.setRelated(venue(number), "owner", to: venue(number - 1))
        }
      }
      let request = BatchUpdateRequest(
        "Venue", where: try FetchPredicate(format: "owner.isFavorite == NO OR owner == nil"),
        set: ["isFavorite": true], options: .chunks(of: 1))
      #expect(try await temporary.store.execute(request).outcome == .count(3))
      #expect(
        try temporary.store.column("isFavorite") == [true, false, true, false, true, false])
    }
  }

  @Test func nowIsOneTimeForAllChunks() async throws {
    try await withVenues(10) { temporary in
      let clock = temporary.clock
      let began = clock.now
      _ = try await temporary.store.execute(
        BatchUpdateRequest("Venue", set: ["openedAt": .now], options: .chunks(of: 1))
      ) { _ in clock.advance(by: 1) }
      #expect(try Set(temporary.store.column("openedAt")) == [.date(began)])
    }
  }

  @Test func toOneRelationshipsAreSetAndCut() async throws {
    try await withVenues(5) { temporary in
      let store = temporary.store
      func owned() throws -> [ObjectID] { try store.read { try $0.related(venue(1), "owned") } }
      _ = try await store.execute(
        BatchUpdateRequest(
          "Venue", where: .comparison("wins", .greater, 2), set: ["owner": .object(venue(1))]))
      #expect(try owned() == [venue(4), venue(5)])
      // A path to another record of the entity.
      _ = try await store.execute(
        BatchUpdateRequest(
          "Venue", where: .comparison("wins", .equal, 4),
          set: ["annexOf": .expression(.path("owner")), "owner": nil]))
      #expect(try owned() == [venue(4)])
      #expect(try store.read { try $0.related(venue(1), "annexes") } == [venue(5)])
    }
  }

  @Test func invalidRequestsAreRefusedBeforeAnythingIsWritten() async throws {
    try await withVenues(3) { temporary in
      let store = temporary.store
      func refusal(
        _ set: [String: AttributeAssignment], _ predicate: FetchPredicate? = nil,
        of entity: String = "Venue"
      ) async -> StoreError.Code? {
        await code {
          try await store.execute(BatchUpdateRequest(entity, where: predicate, set: set))
        }
      }
      #expect(await refusal(["wons": 1]) == .unknownAttribute)
      #expect(await refusal(["wins": 1], .isNull("wons")) == .unknownAttribute)
      #expect(await refusal(["wins": 1], of: "Venues") == .unknownEntity)
      #expect(await refusal(["wins": "many"]) == .invalidRequest)
      #expect(await refusal(["wins": 1.5]) == .invalidRequest)
      #expect(await refusal(["wins": .expression(.path("name"))]) == .invalidRequest)
      #expect(await refusal(["score": .value(.double(.nan))]) == .invalidRequest)
      #expect(await refusal(["level": "middle"]) == .invalidRequest)
      #expect(await refusal(["name": .now]) == .invalidRequest)
      #expect(await refusal(["owned": nil]) == .invalidRequest)
      #expect(await refusal(["_owner": 1]) == .unknownAttribute)
      #expect(await refusal(["owner": 1]) == .invalidRequest)
      #expect(
        await refusal(["owner": .object(ObjectID(entity: "Team", number: 1))]) == .invalidRequest)
      #expect(await refusal(["owner": .object(venue(99))]) == .missingRecord)
      let wins = try store.column("wins")
      #expect(wins == [0, 1, 2])
      #expect(try store.chunkedWrites == 0)
    }
  }

  @Test func aRuleStopsTheBatchUnlessRulesAreOff() async throws {
    try await withVenues(10) { temporary in
      let store = temporary.store
      var request = BatchUpdateRequest(
        "Venue", set: ["wins": try .format("wins * 20")], options: .chunks(of: 2))
      do {
        _ = try await store.execute(request)
        Issue.record("120 wins are too many")
      } catch let error as StoreError {
        #expect(error.code == .validation)
        #expect("\(error)".contains("changed record: Venue/7"), "\(error)")
        #expect("\(error)".contains("more than the maximum 100"), "\(error)")
      }
      // The chunks before stay, and what they have reached.
      #expect(try store.column("wins") == [0, 20, 40, 60, 80, 100, 6, 7, 8, 9])
      #expect(try store.chunkedWrites == 1)

      request.options.without = [.validation]
      let result = try await store.execute(request)
      // Not the same request: it begins anew.
      #expect(!result.isResumed)
      #expect(try store.column("wins").suffix(4) == [120, 140, 160, 180])
    }
  }

  @Test func requiredValuesAndTypesAreAlwaysChecked() async throws {
    try await withVenues(2) { temporary in
      for set: [String: AttributeAssignment] in [["name": nil], ["wins": try .format("wins / 0")]] {
        let request = BatchUpdateRequest(
          "Venue", set: set, options: BatchRequestOptions(without: Set(BatchOption.allCases)))
        #expect(await code { try await temporary.store.execute(request) } == .validation)
      }
      let names = try temporary.store.column("name")
      #expect(names == ["v0", "v1"])
    }
  }

  @Test func aUniqueClashNamesBothRecords() async throws {
    try await withVenues(3) { temporary in
      // One chunk, however slow the machine is.
      let request = BatchUpdateRequest("Venue", set: ["slug": "s"], options: .chunks(of: 100))
      do {
        _ = try await temporary.store.execute(request)
        Issue.record("three records have one slug")
      } catch let error as StoreError {
        #expect(error.code == .uniqueViolation)
        #expect(error.object == venue(2))
        #expect("\(error)".contains("changed record: Venue/2"), "\(error)")
        #expect("\(error)".contains("record: 1"), "\(error)")
      }
      #expect(try temporary.store.column("slug") == [.null, .null, .null])
    }
  }

  @Test func theSameRequestResumesWhereItStopped() async throws {
    try await withVenues(20) { temporary in
      let store = temporary.store
      let request = BatchUpdateRequest(
        "Venue", set: ["wins": try .format("wins + 1"), "openedAt": .now],
        options: .chunks(of: 3))
      let began = temporary.clock.now
      let task = Task {
        try await store.execute(request) { progress in
          if progress.done >= 6 { withUnsafeCurrentTask { $0?.cancel() } }
        }
      }
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try store.chunkedWrites == 1)
      temporary.clock.advance(by: 60)
      let seen = Locked<[BatchProgress]>([])
      let result = try await store.execute(request) { progress in
        seen.withLock { $0.append(progress) }
      }
      #expect(result.isResumed && result.outcome == .count(20))
      #expect(seen.withLock { $0 }.first == BatchProgress(done: 9, total: 20))
      #expect(seen.withLock { $0 }.last == BatchProgress(done: 20, total: 20))
      #expect(try store.column("wins") == (1...20).map { Value.int64($0) })
      #expect(try Set(store.column("openedAt")) == [.date(began)])
    }
  }

  @Test func aRestartBeginsFromTheStart() async throws {
    try await withVenues(10) { temporary in
      let store = temporary.store
      var request = BatchUpdateRequest(
        "Venue", set: ["wins": try .format("wins + 1")], options: .chunks(of: 4))
      let stopped = request
      let task = Task {
        try await store.execute(stopped) { _ in withUnsafeCurrentTask { $0?.cancel() } }
      }
      await #expect(throws: CancellationError.self) { try await task.value }
      request.options.restart = true
      let result = try await store.execute(request)
      #expect(!result.isResumed && result.outcome == .count(10))
      #expect(try store.column("wins") == [2, 3, 4, 5, 5, 6, 7, 8, 9, 10])
      #expect(try store.chunkedWrites == 0)
    }
  }

  @Test func eachChunkIsACommitOfItsOwn() async throws {
    try await withVenues(10) { temporary in
      let store = temporary.store
      let counted = Locked<[Int]>([])
      let request = FetchRequest(
        entityName: "Venue", predicate: .comparison("isFavorite", .equal, true))
      _ = try await store.execute(
        BatchUpdateRequest("Venue", set: ["isFavorite": true], options: .chunks(of: 4))
      ) { _ in
        // Seen by others, who could write now. An error fails the expectation below.
        let count = (try? store.read { try $0.count(request) }) ?? -1
        counted.withLock { $0.append(count) }
      }
      #expect(counted.withLock { $0 } == [4, 8, 10])
    }
  }

  @Test func aSecondConcurrentRunIsRefused() async throws {
    try await withVenues(10) { temporary in
      let store = temporary.store
      let request = BatchUpdateRequest(
        "Venue", set: ["wins": try .format("wins + 1")], options: .chunks(of: 2))
      let inside = DispatchSemaphore(value: 0)
      let mayContinue = DispatchSemaphore(value: 0)
      let hasWaited = Locked(false)
      async let first = store.execute(request) { _ in
        let isFirst = hasWaited.withLock { waited in
          defer { waited = true }
          return !waited
        }
        guard isFirst else { return }
        inside.signal()
        mayContinue.wait()
      }
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          inside.wait()
          continuation.resume()
        }
      }
      do {
        _ = try await store.execute(request)
        Issue.record("the batch ran twice at once")
      } catch let error as StoreError {
        #expect(error.code == .busy)
      }
      mayContinue.signal()
      #expect(try await first.outcome == .count(10))
      #expect(try store.column("wins") == (1...10).map { Value.int64($0) })
    }
  }

  @Test func theHistoryCanBeLeftOut() async throws {
    try await withVenues(1) { temporary in
      try await temporary.store.write { transaction in
        #expect(transaction.recordsHistory)
        transaction.leaveOut([.validation])
        #expect(transaction.recordsHistory)
        transaction.leaveOut([.history])
        #expect(!transaction.recordsHistory)
      }
    }
  }
}
