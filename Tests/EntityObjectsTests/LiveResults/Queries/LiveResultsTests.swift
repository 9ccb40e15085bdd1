import EntityModel
import Foundation
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

private struct Team: Entity {
  var name: String
  var zone: String?
  var wins = 0

  static let attributes: [EntityAttribute<Team>] = [
    .init("name", \.name), .init("zone", \.zone), .init("wins", \.wins),
  ]

  init(name: String, zone: String?, wins: Int) {
    (self.name, self.zone, self.wins) = (name, zone, wins)
  }

  init(from record: inout RecordReader) throws {
    name = try record["name"]
    zone = try record["zone"]
    wins = try record["wins"]
  }
}

@Suite(.timeLimit(.minutes(10))) struct LiveResultsTests {
  private static let executable = childExecutable(named: "store-child")

  private static let cup = FetchDescriptor<Team>(
    sortBy: [SortBy(\.zone), SortBy(\.wins, order: .reverse), SortBy(\.name)])

  // MARK: Two processes

  /// Follows live results, compares each step with the one before, and wakes its waiter.
  private final class Follower: Sendable {
    private struct State {
      var ids: [ObjectID] = []
      var mismatches = 0
      var updates = 0
      var waiter: (ids: [ObjectID], continuation: CheckedContinuation<Void, Never>)?
    }

    let request: FetchRequest
    private let state = Locked(State())

    init(_ request: FetchRequest) { self.request = request }

    var mismatches: Int { state.withLock { $0.mismatches } }
    var updates: Int { state.withLock { $0.updates } }

    func follow(_ results: LiveResults<Record>) async throws {
      var shown: ResultsSnapshot<Record>?
      for try await update in results {
        let applied = try shown.map { try $0.applying(update.changes) }
        let isSame = applied.map { Self.text($0) == Self.text(update.snapshot) } ?? true
        shown = update.snapshot
        let ids = update.snapshot.map(\.id)
        let arrived = state.withLock { state in
          state.ids = ids
          state.updates += 1
          if !isSame { state.mismatches += 1 }
          guard let waiter = state.waiter, waiter.ids == ids else {
            return CheckedContinuation<Void, Never>?.none
          }
          state.waiter = nil
          return waiter.continuation
        }
        arrived?.resume()
      }
    }

    func arrive(at ids: [ObjectID]) async {
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          if state.ids == ids, state.updates > 0 { return true }
          state.waiter = (ids, continuation)
          return false
        }
        if isThere { continuation.resume() }
      }
    }

    private static func text(_ snapshot: ResultsSnapshot<Record>) -> [String] {
      snapshot.sections.map { "\($0.name.text): \($0.count)" }
        + snapshot.map { "\($0.id) \($0.value.values.map(\.text))" }
    }
  }

  @Test func commitsOfTwoProcessesAreFollowedToTheEnd() async throws {
    try await withTemporaryStore(seed: 7, migrations: [.league]) { temporary in
      let store = temporary.store
      var random = temporary.random
      let child = try ChildProcess(
        Self.executable, ["observation-league", store.folder, "\(random.next())"])
      defer { child.kill() }
      #expect(child.readLine() == "ready")
      var followers: [Follower] = []
      var results: [LiveResults<Record>] = []
      for _ in 0..<12 {
        let (request, sectionBy) = try League.request(using: &random)
        followers.append(Follower(request))
        results.append(try store.results(of: request, sectionBy: sectionBy))
      }
      let tasks = zip(followers, results).map { follower, results in
        Task { try await follower.follow(results) }
      }
      for _ in 0..<(isThorough ? 200 : 30) {
        try child.writeLine("3")
        for _ in 0..<2 {
          random = try await store.write { [random] transaction in
            var random = random
            try League.change(transaction, using: &random)
            return random
          }
        }
        #expect(child.readLine() == "done")
      }
      for follower in followers {
        await follower.arrive(at: try store.read { try $0.fetchIdentifiers(follower.request) })
        #expect(follower.mismatches == 0, "\(follower.request)")
      }
      #expect(followers.reduce(0) { $0 + $1.updates } > 40)
      for task in tasks { task.cancel() }
      for task in tasks {
        await #expect(throws: CancellationError.self) { try await task.value }
      }
      try child.closeInput()
      #expect(child.waitForExit() == .init(status: 0, wasSignal: false))
    }
  }

  @Test func manyUpdatesLeakNothing() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let child = try ChildProcess(
        Self.executable,
        ["observation-results", temporary.store.folder, isThorough ? "100000" : "4000"])
      func memory(_ word: String) throws -> Int {
        let line = try #require(child.readLine())
        #expect(line.hasPrefix(word), "\(line)")
        return try #require(Int(line.split(separator: " ")[1]))
      }
      let begun = try memory("begun")
      let ended = try memory("ended")
      #expect(isSanitized || ended < begun + 2_048, "\(begun) KiB, then \(ended) KiB")
      #expect(child.waitForExit() == .init(status: 0, wasSignal: false))
    }
  }

  // MARK: Steps

  @Test func theStepsOfAResultsController() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      let repository = Repository(store)
      let first = try await repository.insert(Team(name: "Ghana", zone: "africa", wins: 1))
      var updates = try store.results(of: Self.cup, sectionBy: \.zone).makeAsyncIterator()
      let start = try #require(try await updates.next())
      #expect(start.origin == .first && start.changes.isEmpty)
      #expect(start.snapshot.sections == [ResultsSection(name: "africa", count: 1)])

      let second = try await repository.insert(Team(name: "Togo", zone: "africa", wins: 0))
      #expect(
        Self.text(try await updates.next()) == ["insert (0, 1) Togo"])
      let third = try await repository.insert(Team(name: "Japan", zone: "asia", wins: 2))
      #expect(
        Self.text(try await updates.next()) == ["section insert 1 asia", "insert (1, 0) Japan"])
      try await repository.update(second.id, with: Team(name: "Togo", zone: "asia", wins: 0))
      #expect(Self.text(try await updates.next()) == ["move (0, 1) (1, 1) Togo"])
      try await repository.update(first.id, with: Team(name: "Ghana", zone: "africa", wins: 5))
      #expect(Self.text(try await updates.next()) == ["update (0, 0) (0, 0) Ghana"])
      try await repository.delete(first.id)
      #expect(
        Self.text(try await updates.next()) == ["section delete 0 africa", "delete (0, 0)"])
      // Two commits before anybody asks are one step.
      try await repository.update(third.id, with: Team(name: "Japan", zone: "asia", wins: -1))
      try await repository.delete(second.id)
      let last = try #require(try await updates.next())
      #expect(last.origin == .changes && last.snapshot.map(\.value.name) == ["Japan"])
    }
  }

  private static func text(_ update: ResultsUpdate<Team>?) -> [String] {
    guard let changes = update?.changes else { return [] }
    let sections = changes.sections.map { change in
      switch change {
      case .delete(let place, let name): "section delete \(place) \(name.text)"
      case .insert(let place, let name): "section insert \(place) \(name.text)"
      }
    }
    let rows = changes.rows.map { change in
      switch change {
      case .delete(let place, _): "delete \(place)"
      case .insert(let place, let row): "insert \(place) \(row.value.name)"
      case .move(let from, let to, let row): "move \(from) \(to) \(row.value.name)"
      case .update(let from, let to, let row): "update \(from) \(to) \(row.value.name)"
      }
    }
    return sections + rows
  }

  @Test func aConsumerThatNeverReadsCostsNothingAndGetsAllChangesAsOneStep() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      var request = FetchRequest(entityName: "Team", sortBy: [SortKey("wins")], fetchLimit: 10)
      request.predicate = try FetchPredicate(format: "wins >= 0")
      var updates = try store.results(of: request).makeAsyncIterator()
      _ = try await updates.next()
      for number in 0..<300 {
        try await store.write { transaction in
          try transaction.insert(
            "Team", ["name": .string("\(number)"), "wins": .int64(Int64(300 - number))])
        }
      }
      let update = try #require(try await updates.next())
      #expect(update.origin == .changes && update.changes.rows.count == 10)
      #expect(update.snapshot.map(\.value.id) == (try store.fetch(request).map(\.id)))
    }
  }

  // MARK: Ends

  @Test func aClosedStoreEndsEveryStream() async throws {
    try await withTemporaryFolder { folder in
      let store = try openStore(at: folder.path("store"), migrations: [.league])
      let id = try await store.write { try $0.insert("Team", ["name": "a"]) }
      let request = FetchRequest(entityName: "Team")
      var results = try store.results(of: request).makeAsyncIterator()
      var counts = store.updates(ofCount: request).makeAsyncIterator()
      var records = store.updates(of: id).makeAsyncIterator()
      _ = try await (results.next(), counts.next(), records.next())
      store.close()
      #expect(try await results.next() == nil)
      #expect(try await counts.next() == nil)
      #expect(try await records.next() == nil)
      var late = try store.results(of: request).makeAsyncIterator()
      #expect(try await late.next() == nil)
      #expect(code { try store.fetch(request) } == .closed)
    }
  }

  @Test func anObserverThatThrowsIsRemoved() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      struct Enough: Error {}
      let observers = store.folder + "/observers"
      await #expect(throws: Enough.self) {
        for try await _ in try store.results(of: FetchRequest(entityName: "Team")) {
          #expect(FileManager.default.fileExists(atPath: observers))
          throw Enough()
        }
      }
      #expect(!FileManager.default.fileExists(atPath: observers))
    }
  }

  // MARK: Values

  @Test func aCountAndAggregatesAreDeliveredWhenTheyChange() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      let team = try await store.write {
        try $0.insert("Team", ["name": "a", "zone": "asia", "wins": 1])
      }
      var winners = FetchRequest(entityName: "Team")
      winners.predicate = try FetchPredicate(format: "wins > 2")
      var zones = FetchRequest(entityName: "Team")
      zones.propertiesToGroupBy = ["zone"]
      zones.propertiesToFetch = ["zone", .sum("wins", as: "wins"), .count(as: "teams")]
      var scorers = FetchRequest(entityName: "Team")
      scorers.predicate = try FetchPredicate(format: "ANY players.goals > 1")
      var counts = store.updates(ofCount: winners).makeAsyncIterator()
      var rows = store.updates(ofRows: zones).makeAsyncIterator()
      var related = store.updates(ofCount: scorers).makeAsyncIterator()
      #expect(try await counts.next() == 0)
      #expect(try await rows.next()?.map(\.description) == ["zone: asia, wins: 1, teams: 1"])
      #expect(try await related.next() == 0)
      try await store.write { try $0.update(team) { try $0.set("motto", to: "m") } }
      try await store.write { try $0.update(team) { try $0.set("wins", to: 2) } }
      try await store.write { try $0.update(team) { try $0.set("wins", to: 3) } }
      try await store.write { transaction in
        try transaction.insert("Player", ["name": "p", "goals": 2, "team": .int64(team.number)])
      }
      #expect(try await counts.next() == 1)
      #expect(try await rows.next()?.map(\.description) == ["zone: asia, wins: 3, teams: 1"])
      #expect(try await related.next() == 1)
    }
  }

  @Test func aRecordIsFollowedUntilItIsDeleted() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      let (id, other) = try await store.write { transaction in
        (
          try transaction.insert(Team(name: "a", zone: nil, wins: 0)),
          try transaction.insert(Team(name: "b", zone: nil, wins: 0))
        )
      }
      var updates = store.updates(of: id, as: Team.self).makeAsyncIterator()
      #expect(try await updates.next()??.wins == 0)
      try await store.write { try $0.update(Team.self, other) { $0.wins = 9 } }
      try await store.write { try $0.update(Team.self, id) { $0.wins = 4 } }
      #expect(try await updates.next()??.wins == 4)
      try await store.write { _ = try $0.delete(id) }
      let gone = try #require(try await updates.next())
      #expect(gone == nil)
      #expect(try await updates.next() == nil)
      var missing = store.updates(of: id).makeAsyncIterator()
      let nothing = try #require(try await missing.next())
      #expect(nothing == nil)
    }
  }
}
