import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Today's program on the stores of earlier ones.
@Suite struct StoreFormatTests {
  @Test func thereIsAStoreOfEachState() {
    let names = Set(EarlierStore.all.map(\.testDescription))
    #expect(names.isSuperset(of: ["first", "relationships", "history"]))
  }

  // MARK: As it is

  @Test("It is read as its own programs read it, and stays as it is", arguments: EarlierStore.all)
  func isRead(format: EarlierStore) async throws {
    try await format.withFolder { path in
      let before = try Data(contentsOf: dataFile(in: path))
      let store = try openEarlier(format, at: path, isReadOnly: true)
      try expectContent(try format.expected(), of: store)
      try requireClean(store)
      try requireWholePages(store)
      #expect(try store.migrationState().changed.isEmpty)
      #expect(try Data(contentsOf: dataFile(in: path)) == before)
    }
  }

  @Test("It is not written before it is migrated", arguments: EarlierStore.all)
  func isNotWritten(format: EarlierStore) async throws {
    try await format.withFolder { path in
      // May rebuild indexes whose collation is that of another machine.
      let store = try openEarlier(format, at: path)
      // The newest may be up to date.
      if try store.migrationState().pending.isEmpty { return }
      let before = try Data(contentsOf: dataFile(in: path))
      let refusal = await code {
        try await store.write { _ = try $0.insert("Shelf", ["name": "new"]) }
      }
      #expect(refusal == .needsMigration)
      #expect(try Data(contentsOf: dataFile(in: path)) == before)
      try expectContent(try format.expected(), of: store)
    }
  }

  // MARK: Migrated

  @Test("It is migrated, holds the same, and goes on", arguments: EarlierStore.all)
  func isMigrated(format: EarlierStore) async throws {
    try await format.withFolder { path in
      let store = try openEarlier(format, at: path)
      let had = try store.migrationHistory()
      let pending = try store.migrationState().pending
      let report = try store.migrate()
      #expect(report.migrations.map(\.name) == pending.map(\.name))
      #expect(try Array(store.migrationHistory().prefix(had.count)) == had)
      #expect(try store.migrationHistory().count == had.count + pending.count)
      #expect(try store.verifyMigrations().isEmpty)
      try expectContent(try format.expected(), of: store)
      try requireClean(store)
      try await expectWrites(to: store)
      try requireClean(store)
      try requireWholePages(store)
    }
  }

  /// A record of each layout is changed, one is made, one deleted, and the history tells of it.
  private func expectWrites(to store: Store) async throws {
    let episodes = try store.fetch(FetchRequest(entityName: "Episode")).map(\.id)
    let before = try store.historyToken()
    let made = try await store.write(author: "today") { transaction in
      for id in episodes { try transaction.update(id) { try $0.set("progress", to: 0.75) } }
      _ = try transaction.delete(episodes[0])
      return try transaction.insert("Shelf", ["name": "new"])
    }
    let shelves = FetchRequest(
      entityName: "Shelf", predicate: .comparison("name", .equal, "new"))
    #expect(try store.fetch(shelves).map(\.id) == [made])
    let rest = FetchRequest(
      entityName: "Episode", predicate: .comparison("progress", .equal, 0.75))
    #expect(try store.fetch(rest).map(\.id) == Array(episodes.dropFirst()))
    let since = try store.history(after: before)
    #expect(since.map(\.author) == ["today"])
    #expect(since.first?.changes.contains { $0.objectID == made && $0.kind == .insert } == true)
    #expect(
      since.first?.changes.contains { $0.objectID == episodes[0] && $0.kind == .delete } == true)
    await #expect(throws: StoreError.self) {
      try await store.write { _ = try $0.insert("Shelf", ["name": "new"]) }
    }
  }

  @Test func aReaderOfTheHistoryGoesOnWhereItWas() async throws {
    let format = EarlierStore("history")
    try await format.withFolder { path in
      let store = try openEarlier(format, at: path)
      try store.migrate()
      let consumer = try #require(try store.read { try $0.historyConsumers() }.first)
      #expect(consumer.name == "mirror" && consumer.unread > 0 && !consumer.isExpired)
      let changes = try store.history(after: consumer.token, exceptBy: nil)
      let last = try #require(changes.first { $0.author == "later" }?.changes.first)
      #expect(last.objectID == ObjectID(entity: "Episode", number: 3))
      #expect(last.changedProperties == ["stars"])
      #expect(last.values == ["stars": 2])
      try await store.write { transaction in
        try transaction.advance(consumer: "mirror", to: try store.historyToken())
      }
      #expect(try store.history().count > changes.count)
    }
  }

  @Test("A template of it is found and run", arguments: ["relationships", "history"])
  func templateRuns(name: String) async throws {
    let format = EarlierStore(name)
    try await format.withFolder { path in
      let store = try openEarlier(format, at: path, isReadOnly: true)
      let request = try store.fetchRequest(
        fromTemplate: "starred", substitutionVariables: ["LEAST": 4])
      let wanted = try format.expected().records["Episode", default: [:]]
        .filter { [.integer(4), .integer(5)].contains($0.value["stars"]) }
      #expect(try Set(store.fetch(request).map(\.id.number)) == Set(wanted.keys))
      #expect(!wanted.isEmpty)
    }
  }

  // MARK: Migrated further

  private static let further = """
    line: local
    summary: A step of each kind
    steps:
      - renameAttribute: { on: Episode, name: source, to: origin }
      - retypeAttribute: { on: Episode, name: price, type: string }
      - retypeAttribute: { on: Episode, name: speed, type: string, optional: true }
      - dropAttribute: { on: Episode, name: cover, destructive: true }
      - derive: { on: Episode, name: minutes, type: double, optional: true, from: duration / 60.0 }
      - addAttribute: { to: Episode, name: color, type: string, default: red, owner: local }
      - createIndex: { on: Episode, name: once, keys: [id, feedID, origin], unique: true }
      - changeIndex: { on: Episode, name: byTag, keys: [tags, title localized] }
      - dropIndex: { on: Episode, name: byShelf }
      - renameEntity: { name: Shelf, to: Rack }
      - setHistory: { on: Episode, values: [origin] }
    """

  @Test(
    "A further migration with a step of each kind runs on it", arguments: EarlierStore.all,
    [false, true])
  func isMigratedFurther(format: EarlierStore, isInChunks: Bool) async throws {
    try await format.withFolder { path in
      let more = MigrationSource(embedded: [("0003_further", Array(Self.further.utf8))])
      let store = try openEarlier(format, at: path, more: [more])
      var options = MigrationOptions()
      #expect(code { try store.migrate(options) } == .migration)
      options.allowsDestructive = true
      if isInChunks {
        options.recordsAtOnceMax = 0
        options.chunkDuration = .zero
      }
      try store.migrate(options)
      try requireClean(store)
      try requireWholePages(store)
      let content = try changed(format.expected())
      try expectContent(content, of: store, newAttributes: ["minutes", "color"])
      let first = ObjectID(entity: "Episode", number: 1)
      try await store.write { try $0.update(first) { try $0.set("origin", to: "today") } }
      let record = try #require(try store.read { try $0.get(first) })
      #expect(try record["origin"] == "today")
      #expect(try record["color"] == "red")
      #expect(try record["minutes"] == .double(512.0 / 60))
      try requireClean(store)
    }
  }

  /// What the further migration makes of records and links.
  private func changed(_ expected: ExpectedRecords) throws -> ExpectedRecords {
    var changed = expected
    changed.records["Rack"] = changed.records.removeValue(forKey: "Shelf")
    changed.records["Episode"] = changed.records["Episode"]?.mapValues { values in
      var values = values
      values["origin"] = values.removeValue(forKey: "source")
      values["cover"] = nil
      switch values["speed"] {
      case .integer(let number): values["speed"] = .text(Value.double(Double(number)).text)
      case .number(let number): values["speed"] = .text(Value.double(number).text)
      default: break
      }
      return values
    }
    changed.links = [:]
    for (id, links) in expected.links {
      let entity = id.entity == "Shelf" ? "Rack" : id.entity
      changed.links[ObjectID(entity: entity, number: id.number)] = links.mapValues { others in
        others.map { $0.replacing("Shelf/", with: "Rack/") }
      }
    }
    return changed
  }

  private func expectContent(
    _ expected: ExpectedRecords, of store: Store, newAttributes: Set<String> = []
  ) throws {
    let differences = try expected.differences(from: store, newAttributes: newAttributes)
    #expect(differences.isEmpty, "\(differences.prefix(5).joined(separator: "; "))")
  }

  private func dataFile(in folder: String) -> URL {
    URL(fileURLWithPath: folder).appendingPathComponent("data.mdb")
  }
}
