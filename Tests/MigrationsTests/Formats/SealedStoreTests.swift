import EntityModel
import Foundation
import LMDB
import Maintenance
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Stores of versions without seals: they stay as they are under ordinary writes, and `migrate` and
/// `compact` give them seals.
@Suite struct SealedStoreTests {
  private static let earlier = EarlierStore("history")

  private func requireSealed(_ store: Store) throws {
    let schema = try store.schema
    #expect(schema.isSealed)
    #expect(schema.entities.allSatisfy { $0.seals?.isComplete == true })
    let features = try store.catalog().readCompatibleFeatures
    #expect(features == CatalogHeader.sealFeature)
    try requireClean(store)
    try requireWholePages(store)
  }

  @Test func writesGiveNoSeals() async throws {
    try await Self.earlier.withFolder { path in
      do {
        let store = try openEarlier(Self.earlier, at: path)
        var options = MigrationOptions()
        options.sealsRecords = false
        try store.migrate(options)
        try await store.write { _ = try $0.insert("Shelf", ["name": "new"]) }
        #expect(try store.schema.isSealed == false)
        #expect(try store.catalog().readCompatibleFeatures == 0)
        try requireClean(store)
      }
      let report = try Store.check(at: path)
      #expect(report.isClean && report.notes?.count == 2)
    }
  }

  @Test("A migration run seals each earlier store", arguments: EarlierStore.all)
  func isSealed(format: EarlierStore) async throws {
    try await format.withFolder { path in
      let store = try openEarlier(format, at: path)
      try store.migrate()
      try requireSealed(store)
      #expect(try format.expected().differences(from: store).isEmpty)
      try await store.write { _ = try $0.insert("Shelf", ["name": "new"]) }
      try requireSealed(store)
    }
  }

  @Test func compactSeals() async throws {
    try await Self.earlier.withFolder { path in
      let before = try dump(openEarlier(Self.earlier, at: path, isReadOnly: true))
      try Store.compact(at: path)
      let store = try openEarlier(Self.earlier, at: path)
      #expect(try dump(store) == before)
      try requireSealed(store)
    }
  }

  /// One record in each chunk, ended after each chunk in turn.
  @Test func anInterruptedRunIsContinued() async throws {
    try await Self.earlier.withFolder { path in
      var options = MigrationOptions()
      options.chunkDuration = .zero
      var runs = 0
      var shelves = 0
      while true {
        let store = try openEarlier(Self.earlier, at: path)
        let calls = Counter()
        options.isCancelled = { calls.next() > 6 }
        do {
          try store.migrate(options)
          break
        } catch is CancellationError {
          runs += 1
        }
        try requireClean(store)
        let name = "shelf \(runs)"
        try await store.write { _ = try $0.insert("Shelf", ["name": .string(name)]) }
        shelves += 1
        try #require(runs < 10_000)
      }
      #expect(runs > 2)
      let store = try openEarlier(Self.earlier, at: path)
      try requireSealed(store)
      let named = FetchRequest(
        entityName: "Shelf", predicate: .comparison("name", .beginsWith, "shelf "))
      #expect(try store.fetch(named).count == shelves)
      #expect(
        try store.read { try $0.get("_ChunkedWrite", by: ["name": "_seal"]) } == nil)
    }
  }

  @Test func aKilledRunIsContinued() async throws {
    let seed = testSeed(41)
    var random = SeededRandom(seed: seed)
    try await Self.earlier.withFolder { path in
      var options = MigrationOptions()
      options.sealsRecords = false
      try openEarlier(Self.earlier, at: path).migrate(options)
      let before = try dump(openEarlier(Self.earlier, at: path))
      let lines = "lines=" + Self.earlier.lineFolders.joined(separator: ":")
      var killed = 0
      while true {
        let child = try ChildProcess(MigrationBench.executable, ["migration-seal", path, lines])
        for _ in 0...random.number(1...8) where child.readLine() == nil { break }
        usleep(UInt32(random.number(0...1_500)))
        guard child.kill().wasSignal else { break }
        killed += 1
        try requireClean(openEarlier(Self.earlier, at: path))
      }
      print("killed \(killed) times, seed \(seed)")
      #expect(killed > 2, "seed \(seed)")
      let store = try openEarlier(Self.earlier, at: path)
      try requireSealed(store)
      #expect(try dump(store) == before)
    }
  }

  @Test func theListOfCopiesGetsASealAndEntriesOfOlderProgramsDoNotCount() async throws {
    try await Self.earlier.withFolder { path in
      let store = try openEarlier(Self.earlier, at: path)
      var options = MigrationOptions()
      options.sealsRecords = false
      try store.migrate(options)
      let unsealed = CatalogTree.backupsKey(isSealed: false)
      let copies = [MigrationBackup(path: path + ".before", before: "app first", madeAt: 0)]
      try store.changeSchema { try $0.put(copies, at: unsealed) }
      #expect(try store.migrationBackups() == copies)
      try store.migrate()
      #expect(try store.migrationBackups() == copies)
      // What `migrate up --allow-destructive` of a program without seals commits.
      let key = Array("backups".utf8)
      try store.runAlone {
        try $0.put(store.catalogTree, key: key, value: Array(#"[{"path":"/other"}]"#.utf8))
      }
      #expect(try store.migrationBackups() == copies)
      try requireSealed(store)
    }
  }

  @Test func anEarlierLayoutVersionDoesNotSwitchTheCheckOff() async throws {
    try await Self.earlier.withFolder { path in
      let store = try openEarlier(Self.earlier, at: path)
      try store.migrate()
      let episode = try store.catalog().entity("Episode")
      let since = try #require(episode.description.seals?.since)
      let id = try #require(try store.fetch(FetchRequest(entityName: "Episode")).first?.id)
      try store.runAlone { transaction in
        try RecordKey.with(id.number) { key in
          var bytes = Array(try #require(try transaction.get(episode.tree, key)))
          bytes[0] = UInt8(since - 1)
          try bytes.withUnsafeBytes { try transaction.put(episode.tree, key: key, value: $0) }
        }
      }
      let problems = try store.checkIntegrity().problems
      #expect(problems.map(\.text) == ["a record has no seal"])
    }
  }
}

/// Counts the calls of a closure.
private final class Counter: @unchecked Sendable {
  // SAFETY: `count` is touched only with the lock held.
  private let lock = NSLock()
  private var count = 0

  func next() -> Int {
    lock.withLock {
      count += 1
      return count
    }
  }
}
