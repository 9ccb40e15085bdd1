import EntityModel
import LMDB
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

@Suite struct BatchDeleteTests {
  @Test func eachResultTypeReturnsItsResult() async throws {
    try await withVenues(9) { temporary in
      let store = temporary.store
      func delete(_ wins: Int64, _ type: BatchResultType) async throws -> BatchResult.Outcome {
        let request = BatchDeleteRequest(
          "Venue", where: .comparison("wins", .greaterOrEqual, .int64(wins)), resultType: type)
        return try await store.execute(request).outcome
      }
      let status = try await delete(8, .status)
      #expect(status == .status(true))
      #expect(try await delete(6, .count) == .count(2))
      #expect(try await delete(4, .identifiers) == .identifiers([venue(5), venue(6)]))
      #expect(try store.column("wins") == [0, 1, 2, 3])
      #expect(try await store.execute(BatchDeleteRequest("Venue")).outcome == .count(4))
      #expect(try store.chunkedWrites == 0)
    }
  }

  @Test func recordsAreDeletedByIdentityAndMissingOnesSkipped() async throws {
    try await withVenues(5) { temporary in
      let store = temporary.store
      let request = BatchDeleteRequest(
        [venue(4), venue(2), venue(77), venue(2)], resultType: .identifiers)
      let result = try await store.execute(request)
      #expect(result.outcome == .identifiers([venue(2), venue(4)]))
      #expect(try store.column("wins") == [0, 2, 4])
      #expect(try await store.execute(BatchDeleteRequest([])).outcome == .count(0))
      let mixed = BatchDeleteRequest([venue(1), ObjectID(entity: "Team", number: 1)])
      #expect(await code { try await store.execute(mixed) } == .invalidRequest)
    }
  }

  @Test func aDeleteRuleStopsTheBatchAndTheSameRequestResumes() async throws {
    try await withVenues(8) { temporary in
      let store = temporary.store
      let team = try await store.write { transaction in
        let team = try transaction.insert("Team", ["name": "t"])
        try transaction.setRelated(team, "home", to: venue(6))
        return team
      }
      let request = BatchDeleteRequest("Venue", options: .chunks(of: 2))
      do {
        _ = try await store.execute(request)
        Issue.record("a team plays there")
      } catch let error as StoreError {
        #expect(error.code == .deletionDenied)
        #expect("\(error)".contains("Venue/6"), "\(error)")
      }
      #expect(try store.column("wins") == [4, 5, 6, 7])
      try await store.write { try $0.setRelated(team, "home", to: nil) }
      let result = try await store.execute(request)
      #expect(result.isResumed && result.outcome == .count(8))
      #expect(try store.read { try $0.count(of: "Team") } == 1)
    }
  }

  @Test func recordsThatAreDeletedTogetherDoNotDenyEachOther() async throws {
    try await withVenues(7) { temporary in
      let store = temporary.store
      try await store.write { transaction in
        // A chain, of which the first would have to go last, and a ring.
        try transaction.setRelated(venue(2), "owner", to: venue(1))
        try transaction.setRelated(venue(3), "owner", to: venue(2))
        try transaction.setRelated(venue(5), "owner", to: venue(6))
        try transaction.setRelated(venue(6), "owner", to: venue(5))
        try transaction.setRelated(venue(7), "owner", to: venue(4))
      }
      let request = BatchDeleteRequest(
        "Venue", where: .comparison("wins", .less, 6), resultType: .identifiers,
        options: .chunks(of: 1))
      // The seventh is not to be deleted, and so keeps the fourth.
      #expect(await code { try await store.execute(request) } == .deletionDenied)
      #expect(try store.column("wins") == [3, 4, 5, 6])
      try await store.write { try $0.setRelated(venue(7), "owner", to: nil) }
      let result = try await store.execute(request)
      #expect(result.outcome == .identifiers([venue(4), venue(5), venue(6)]))
      #expect(result.counts.deleted == 6)
      #expect(try store.column("wins") == [6])
    }
  }

  @Test func cascadedRecordsAreNotVisitedAgain() async throws {
    try await withVenues(6) { temporary in
      let store = temporary.store
      try await store.write { transaction in
        // The first takes the fifth along, which a later chunk would come to, and two deals.
        try transaction.setRelated(venue(5), "annexOf", to: venue(1))
        for name in ["a", "b", "c"] {
          let deal = try transaction.insert("Deal", ["name": .string(name)])
          try transaction.setRelated(deal, "venue", to: venue(name == "c" ? 6 : 5))
        }
      }
      let request = BatchDeleteRequest(
        "Venue", where: .comparison("wins", .notEqual, 5), options: .chunks(of: 1))
      #expect(try await store.execute(request).outcome == .count(5))
      #expect(try store.column("wins") == [5])
      #expect(try store.column("name", of: "Deal") == ["c"])
    }
  }

  @Test func withoutDeleteRulesLinksAreOnlyCut() async throws {
    try await withVenues(4) { temporary in
      let store = temporary.store
      try await store.write { transaction in
        let team = try transaction.insert("Team", ["name": "t"])
        try transaction.setRelated(team, "home", to: venue(1))
        let deal = try transaction.insert("Deal", ["name": "d"])
        try transaction.setRelated(deal, "venue", to: venue(1))
        try transaction.setRelated(venue(4), "annexOf", to: venue(2))
        try transaction.setRelated(venue(3), "owner", to: venue(2))
      }
      let request = BatchDeleteRequest(
        [venue(1), venue(2)], options: BatchRequestOptions(without: [.deleteRules]))
      #expect(try await store.execute(request).outcome == .count(2))
      #expect(try store.column("wins") == [2, 3])
      for (entity, relationship) in [("Team", "home"), ("Deal", "venue")] {
        let id = ObjectID(entity: entity, number: 1)
        #expect(try store.read { try $0.related(id, relationship) } == [])
      }
    }
  }

  @Test func aRequiredLinkPreventsTheDeletionEvenWithoutDeleteRules() async throws {
    try await withVenues(2) { temporary in
      let store = temporary.store
      try await store.write {
        _ = try $0.insert("Lease", ["name": "l", "venue": 2])
      }
      for options in [[], Set(BatchOption.allCases)] {
        let request = BatchDeleteRequest(
          [venue(2)], options: BatchRequestOptions(without: options))
        #expect(await code { try await store.execute(request) } == .deletionDenied)
      }
      #expect(try store.column("wins") == [0, 1])
    }
  }
}
