import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore
@testable import Migrations

@Suite struct LiveQueryTests {
  /// An observer that is driven by hand, with what it has shown last.
  private final class Observer {
    let request: FetchRequest
    let sectionBy: String?
    private let query: LiveQuery<Record>
    private(set) var snapshot: ResultsSnapshot<Record>?
    private(set) var origins: [ResultsUpdate<Record>.Origin: Int] = [:]

    init(_ request: FetchRequest, sectionBy: String?) {
      self.request = request
      self.sectionBy = sectionBy
      query = LiveQuery(LiveRequest(source: RecordSource(request), sectionPath: sectionBy))
    }

    /// Takes the next step and compares it with a fetch.
    @discardableResult
    func step(_ store: Store) throws -> ResultsUpdate<Record>? {
      let (update, fresh) = try store.read { transaction in
        (try query.advance(in: transaction), try transaction.fetch(request))
      }
      if let update {
        origins[update.origin, default: 0] += 1
        if let before = snapshot {
          let applied = try before.applying(update.changes)
          #expect(Self.text(applied) == Self.text(update.snapshot), "\(request)")
          #expect(!update.changes.isEmpty)
        }
        snapshot = update.snapshot
      }
      let shown = try #require(snapshot)
      #expect(shown.map(\.value.id) == fresh.map(\.id), "\(request)")
      #expect(shown.map(\.value.values) == fresh.map(\.values), "\(request)")
      try expectSections(shown)
      return update
    }

    private func expectSections(_ snapshot: ResultsSnapshot<Record>) throws {
      #expect(snapshot.sections.reduce(0) { $0 + $1.count } == snapshot.count)
      guard let sectionBy, !sectionBy.contains(".") else { return }
      var position = 0
      for section in snapshot.sections {
        for _ in 0..<section.count {
          #expect(try snapshot[position].value[sectionBy] == section.name)
          position += 1
        }
      }
      let names = snapshot.sections.map(\.name)
      #expect(Set(names).count == names.count)
    }

    private static func text(_ snapshot: ResultsSnapshot<Record>) -> [String] {
      snapshot.sections.map { "\($0.name.text): \($0.count)" }
        + snapshot.map { "\($0.id) \($0.section.text) \($0.value.values.map(\.text))" }
    }
  }

  @Test(arguments: [1, 2, 3])
  func changesAppliedToTheOldSnapshotGiveTheNewOneWhichEqualsAFetch(
    seed: UInt64
  ) async throws {
    try await withTemporaryStore(seed: seed, migrations: [.league]) { temporary in
      let store = temporary.store
      var random = temporary.random
      try await Self.change(store, times: 30, &random)
      var observers: [Observer] = []
      for _ in 0..<(isThorough ? 400 : 60) {
        let (request, sectionBy) = try League.request(using: &random)
        observers.append(Observer(request, sectionBy: sectionBy))
      }
      for observer in observers { try observer.step(store) }
      for _ in 0..<(isThorough ? 300 : 50) {
        try await Self.change(store, times: Int.random(in: 1...2, using: &random), &random)
        for observer in observers { try observer.step(store) }
      }
      let origins = observers.reduce(into: [:]) { $0.merge($1.origins, uniquingKeysWith: +) }
      #expect(origins[.changes, default: 0] > 100)
      #expect(origins[.fetched(.relationship), default: 0] > 20)
      for observer in observers where !Self.dependsOnOthers(observer.request) {
        #expect(observer.origins[.fetched(.relationship)] == nil, "\(observer.request)")
      }
    }
  }

  private static func change(
    _ store: Store, times: Int, _ random: inout SeededRandom
  ) async throws {
    for _ in 0..<times {
      let before = random
      random = try await store.write { transaction in
        var random = before
        try League.change(transaction, using: &random)
        return random
      }
    }
  }

  private static func dependsOnOthers(_ request: FetchRequest) -> Bool {
    let text = "\(request.predicate?.description ?? "") \(request.sortBy.map(\.path))"
    return ["players", "rivals", "team"].contains { text.contains($0) }
  }

  // MARK: The ways

  @Test func anUnrelatedChangeIsSilent() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      let team = try await store.write { transaction in
        for number in 0..<5 {
          try transaction.insert(
            "Team", ["name": .string("\(number)"), "wins": .int64(Int64(number))])
        }
        return try transaction.insert("Team", ["name": "far", "wins": 99])
      }
      let request = FetchRequest(
        entityName: "Team", sortBy: [SortKey("wins")], fetchLimit: 3)
      let observer = Observer(request, sectionBy: nil)
      try observer.step(store)
      try await store.write { try $0.insert("Player", ["name": "p"]) }
      #expect(try observer.step(store) == nil)
      try await store.write { try $0.update(team) { try $0.set("motto", to: "x") } }
      #expect(try observer.step(store) == nil)
      try await store.write { try $0.update(team) { try $0.set("wins", to: 1) } }
      let update = try #require(try observer.step(store))
      #expect(update.origin == .changes && update.changes.rows.count == 2)
    }
  }

  @Test func changesOutsideTheHistoryCauseARefetch() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      let teams = Observer(FetchRequest(entityName: "Team"), sectionBy: nil)
      let referees = Observer(
        FetchRequest(entityName: "Referee", sortBy: [SortKey("age")]), sectionBy: nil)
      try teams.step(store)
      try referees.step(store)
      try await store.write { transaction in
        transaction.recordsHistory = false
        try transaction.insert("Team", ["name": "unseen"])
      }
      #expect(try teams.step(store)?.origin == .fetched(.historyIncomplete))
      try await store.write { try $0.insert("Referee", ["name": "r"]) }
      #expect(try teams.step(store) == nil)
      #expect(try referees.step(store)?.origin == .fetched(.noHistory))
      // As if an observer had slept for longer than the history is kept.
      try await store.write { try $0.insert("Team", ["name": "first"]) }
      try await store.write { try $0.insert("Team", ["name": "second"]) }
      let tree = try #require(try store.catalog().historyTree)
      try store.runAlone { transaction in
        for sequence in 1...2 {
          _ = try HistoryKey(sequence: Int64(sequence), part: 0).withBytes {
            try transaction.delete(tree, key: $0)
          }
        }
      }
      #expect(try teams.step(store)?.origin == .fetched(.historyIncomplete))
    }
  }

  @Test func aWindowThatLosesItsRowsIsFilledFromTheIndex() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      let ids = try await store.write { transaction in
        try (0..<200).map {
          try transaction.insert("Team", ["name": .string("\($0)"), "wins": .int64(Int64($0))])
        }
      }
      let observer = Observer(
        FetchRequest(
          entityName: "Team", sortBy: [SortKey("wins")], fetchLimit: 20, fetchOffset: 5),
        sectionBy: nil)
      try observer.step(store)
      for id in ids.prefix(100) {
        try await store.write { try $0.delete(id) }
        try observer.step(store)
      }
      #expect(observer.origins[.fetched(.windowEmptied), default: 0] == 4)
      #expect(observer.origins[.changes, default: 0] == 96)
      // Many that come push as many out behind the window.
      var newest: [ObjectID] = []
      for number in 0..<100 {
        newest.append(
          try await store.write { transaction in
            try transaction.insert(
              "Team", ["name": "new", "wins": .int64(Int64(-number))])
          })
        try observer.step(store)
      }
      #expect(observer.origins[.changes, default: 0] == 196)
      // One that was forgotten is changed; it must not come before those that were forgotten, too.
      try await store.write { try $0.update(ids[110]) { try $0.set("motto", to: "back") } }
      #expect(try observer.step(store) == nil)
      for id in newest.reversed().prefix(60) {
        try await store.write { try $0.delete(id) }
        try observer.step(store)
      }
    }
  }

  @Test func manyChangesAtOnceCauseARefetch() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      let observer = Observer(
        FetchRequest(entityName: "Team", sortBy: [SortKey("wins")], fetchLimit: 5), sectionBy: nil)
      try observer.step(store)
      for (count, origin) in [
        (StoreLimits.changesFollowedMax, ResultsUpdate<Record>.Origin.changes),
        (StoreLimits.changesFollowedMax + 1, .fetched(.manyChanges)),
      ] {
        try await store.write { transaction in
          for number in 0..<count {
            try transaction.insert(
              "Team", ["name": "t", "wins": .int64(Int64(number % 7 - count))])
          }
        }
        #expect(try observer.step(store)?.origin == origin)
      }
    }
  }

  @Test func aMigrationCausesARefetch() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      let id = try await store.write { try $0.insert("Team", ["name": "a"]) }
      let observer = Observer(FetchRequest(entityName: "Team"), sectionBy: nil)
      try observer.step(store)
      let record = ObservedRecord(id) { try $0.get(id) }
      #expect(try store.read { try record.advance(in: $0) } != nil)
      let more = """
        line: more
        summary: s
        steps: [ { addAttribute: { to: Team, name: coach, type: string, default: none } } ]
        """
      let grown = try openStore(
        at: store.folder,
        migrations: [.league, MigrationSource(embedded: [("0001_more", Array(more.utf8))])])
      try grown.migrate()
      try await grown.write { try $0.insert("Team", ["name": "b"]) }
      #expect(try observer.step(grown)?.origin == .fetched(.schemaChanged))
      let seen = try grown.read { try record.advance(in: $0) }
      #expect(try seen??["coach"] == "none")
      #expect(try grown.read { try record.advance(in: $0) } == nil)
    }
  }

  @Test func theHistoryIsReadOnlyUntilItIsKnownThatAllIsFetchedAgain() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      var request = FetchRequest(entityName: "Team")
      request.predicate = try FetchPredicate(format: "ANY players.goals > 1")
      let observer = Observer(request, sectionBy: nil)
      try observer.step(store)
      let team = try await store.write { transaction in
        let team = try transaction.insert("Team", ["name": "t"])
        try transaction.insert("Player", ["name": "p", "goals": 2, "team": .int64(team.number)])
        return team
      }
      try await store.write { try $0.update(team) { try $0.set("wins", to: 1) } }
      let tree = try #require(try store.catalog().historyTree)
      let sequence = try store.historyToken().sequence
      // What is not read may be anything.
      let whole = try store.runAlone { transaction in
        try HistoryKey(sequence: sequence, part: 0).withBytes { key in
          let whole = Array(try #require(try transaction.get(tree, key)))
          try (whole + [0x80]).withUnsafeBytes {
            try transaction.put(tree, key: key, value: $0)
          }
          return whole
        }
      }
      #expect(try observer.step(store)?.origin == .fetched(.relationship))
      try store.runAlone { transaction in
        try HistoryKey(sequence: sequence, part: 0).withBytes { key in
          try whole.withUnsafeBytes { try transaction.put(tree, key: key, value: $0) }
        }
      }
    }
  }

  // MARK: Refusals

  @Test func unobservableRequestsAreRefused() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      var grouped = FetchRequest(entityName: "Team")
      grouped.propertiesToGroupBy = ["zone"]
      #expect(code { _ = try store.results(of: grouped) } == .invalidRequest)
      var prefetching = FetchRequest(entityName: "Team")
      prefetching.relationshipKeyPathsForPrefetching = ["players"]
      #expect(code { _ = try store.results(of: prefetching) } == .invalidRequest)
      let byWins = FetchRequest(entityName: "Team", sortBy: [SortKey("wins")])
      #expect(code { _ = try store.results(of: byWins, sectionBy: "zone") } == .invalidRequest)
      #expect(
        code { _ = try store.results(of: FetchRequest(entityName: "Team"), sectionBy: "zone") }
          == .invalidRequest)
      let collated = FetchRequest(
        entityName: "Team", sortBy: [SortKey("zone", collation: .caseInsensitive)])
      #expect(code { _ = try store.results(of: collated, sectionBy: "zone") } == .invalidRequest)
      var unknown = try store.results(of: FetchRequest(entityName: "Tream")).makeAsyncIterator()
      #expect(await code { _ = try await unknown.next() } == .unknownEntity)
      #expect(try await unknown.next() == nil)
      var having = FetchRequest(entityName: "Team")
      having.havingPredicate = try FetchPredicate(format: "wins > 1")
      var refused = try store.results(of: having).makeAsyncIterator()
      #expect(await code { _ = try await refused.next() } == .invalidRequest)
      having.sortBy = [SortKey("zone")]
      let sorted = having
      #expect(
        await code { _ = try await store.sections(of: sorted, by: "zone") } == .invalidRequest)
    }
  }
}
