import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityStore
@testable import Maintenance
@testable import Migrations

/// Flipped bits in a store with seals: each is found, or changes nothing that a command shows.
@Suite struct SealTests {
  private static let notes = MigrationSource(embedded: [
    (
      "0001_notes",
      Array(
        """
        line: notes
        summary: Records with values that no index has
        steps:
          - createEntity:
              name: Note
              attributes:
                - { name: key, type: string }
                - { name: rank, type: int64, default: 0 }
                - { name: text, type: string, optional: true }
                - { name: score, type: double, optional: true }
                - { name: isOpen, type: bool, optional: true }
                - { name: blob, type: data, optional: true }
          - createIndex: { on: Note, name: byKey, keys: [key], unique: true }
          - createIndex: { on: Note, name: byRank, keys: [rank desc] }
        """.utf8)
    )
  ])

  /// Creates a store with records on several pages, a large value, a history and a free list.
  private func makeStore(at path: String) async throws {
    let store = try openStore(at: path, migrations: [Self.notes])
    let ids = try await store.write(author: "first") { transaction in
      try (0..<40 as Range<Int64>).map { number in
        try transaction.insert(
          "Note",
          [
            "key": .string("key \(number % 7) \(number)"), "rank": .int64(number % 5),
            "text": .string(String(repeating: "text \(number) ", count: 20)),
            "score": .double(Double(number) / 3), "isOpen": .bool(number % 2 == 0),
            "blob": number == 9 ? .data(Data(repeating: 7, count: 9_000)) : .null,
          ])
      }
    }
    for round in 0..<6 {
      try await store.write(author: "round \(round)") { transaction in
        try transaction.delete(ids[round * 5])
        for id in ids[30...] {
          try transaction.update(id) { try $0.set("score", to: .double(Double(round))) }
        }
      }
    }
  }

  /// Returns all that commands can show.
  private func content(of path: String) throws -> [String] {
    var options = Store.Options()
    options.isReadOnly = true
    options.mapSize = 1 << 30
    let store = try Store.open(at: path, migrations: [Self.notes], options: options)
    let statistics = try store.statistics()
    var lines = try store.read { transaction in
      var lines = ["\(transaction.storeID)"]
      lines.append(String(decoding: try CatalogTree.encode(transaction.schema), as: UTF8.self))
      for entity in transaction.schema.entities {
        lines.append("\(entity.name) \(try transaction.count(of: entity.name))")
        try transaction.forEachStored(entity.name) { stored in
          lines.append("\(entity.name) \(stored.id ?? 0) \(try stored.read().values)")
          return true
        }
        for index in entity.indexes {
          try transaction.eachEntry(of: entity.name, index: index.name) { entry in
            lines.append("\(index.name) \(entry.key) \(entry.id ?? 0)")
            return true
          }
        }
      }
      for entry in try transaction.history() {
        lines.append("\(entry.token) \(entry.author ?? "") \(entry.date)")
        for change in entry.changes {
          // A dictionary is printed in an order that can differ from one copy to the next.
          let values = change.values.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
          lines.append("\(change.objectID) \(change.kind) \(change.changedProperties) \(values)")
        }
      }
      return lines
    }
    lines += try store.migrationHistory().map { "\($0)" }
    lines += statistics.trees.map { "\($0)" }
    lines.append("\(statistics.pagesUsed) \(statistics.pagesFree) \(statistics.lastTransaction)")
    return lines
  }

  private func isFound(at path: String) throws -> Bool {
    do {
      return try !Store.check(at: path).isClean
    } catch is StoreError {
      return true
    }
  }

  @Test(arguments: StoreRegions.Region.allCases)
  func noFlipThatChangesAValueIsMissed(region: StoreRegions.Region) async throws {
    let seed = testSeed(1_900)
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      try await makeStore(at: path)
      let dataFile = URL(fileURLWithPath: DataFile.path(in: path))
      let sound = [UInt8](try Data(contentsOf: dataFile))
      let report = try Store.check(at: path)
      #expect(report.isClean && report.notes == nil, "\(report)")
      let shown = try content(of: path)
      let places = try #require(StoreRegions(sound).places[region])
      let file = try FileHandle(forUpdating: dataFile)
      defer { try? file.close() }  // the folder is removed
      func write(_ byte: UInt8, at place: Int) throws {
        try file.seek(toOffset: UInt64(place))
        try file.write(contentsOf: [byte])
      }
      var random = SeededRandom(seed: seed)
      var found = 0
      for _ in 0..<(isThorough ? 5_000 : 500) {
        let place = random.pick(places)
        let bit = random.number(0...7)
        try write(sound[place] ^ 1 << UInt8(bit), at: place)
        if try isFound(at: path) {
          found += 1
        } else {
          let place = "bit \(bit) of byte \(place % 4_096) of page \(place / 4_096)"
          let now = try content(of: path)
          let changed = now.difference(from: shown).map { "\($0)" }
          #expect(now == shown, "seed \(seed): \(place): \(changed.prefix(2))")
        }
        try write(sound[place], at: place)
      }
      #expect(found > 100, "seed \(seed)")
      #expect(try Store.check(at: path).isClean)
    }
  }

  // MARK: Damage of one record

  /// Changes the bytes of a record in its tree.
  private func damage(
    _ id: ObjectID, of store: Store, _ change: (inout [UInt8]) -> Void
  ) throws {
    let tree = try store.catalog().entity(id.entity).tree
    try store.runAlone { transaction in
      try RecordKey.with(id.number) { key in
        var bytes = Array(try #require(try transaction.get(tree, key)))
        change(&bytes)
        try bytes.withUnsafeBytes { try transaction.put(tree, key: key, value: $0) }
      }
    }
  }

  @Test func aChangedValueIsReadAndNotVerified() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      try await makeStore(at: path)
      let store = try openStore(at: path, migrations: [Self.notes])
      let note = try #require(try store.fetch(FetchRequest(entityName: "Note")).first)
      try damage(note.id, of: store) { bytes in
        let text = Array("text".utf8)
        let place = bytes.indices.first { bytes[$0...].starts(with: text) } ?? 0
        bytes[place] = UInt8(ascii: "T")
      }
      let request = FetchRequest(entityName: "Note")
      #expect(try store.fetch(request).count == 34)
      let problems = try store.checkIntegrity().problems
      #expect(problems.map(\.text) == ["a record does not match its seal"])
      #expect(problems.first?.id == note.id.number)
      var options = Store.Options()
      options.mapSize = 1 << 30
      options.verifiesReads = true
      let verifying = try Store.open(at: path, migrations: [Self.notes], options: options)
      #expect(code { _ = try verifying.fetch(request) } == .damaged)
      #expect(code { _ = try verifying.read { try $0.get(note.id) } } == .damaged)
    }
  }

  @Test func aRecordInThePlaceOfAnotherIsFound() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      try await makeStore(at: path)
      let store = try openStore(at: path, migrations: [Self.notes])
      let ids = try store.fetch(FetchRequest(entityName: "Note")).map(\.id)
      let tree = try store.catalog().entity("Note").tree
      let other = try store.environment.read { transaction in
        try RecordKey.with(ids[1].number) { Array(try #require(try transaction.get(tree, $0))) }
      }
      try damage(ids[0], of: store) { $0 = other }
      #expect(
        try store.checkIntegrity().problems.contains {
          $0.id == ids[0].number && $0.text == "a record does not match its seal"
        })
    }
  }

  @Test func aDamagedCatalogIsNotSealedAgain() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      try await makeStore(at: path)
      let store = try openStore(at: path, migrations: [Self.notes])
      var schema = try store.schema
      schema.nextEntityID += 1
      let changed = schema
      try store.runAlone { transaction in
        try transaction.put(
          store.catalogTree, key: CatalogTree.schemaKey, value: try CatalogTree.encode(changed))
      }
      #expect(code { try store.changeSchema { $0.set(changed) } } == .damaged)
      #expect(try Store.check(at: path).problems == ["the catalog does not match its seal"])
    }
  }
}
