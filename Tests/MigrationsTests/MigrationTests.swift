import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

@Suite struct MigrationTests {
  private typealias File = (name: String, bytes: [UInt8])

  private static func file(
    _ name: String, line: String = "more", requires: String = "model@1", _ steps: String
  ) -> File {
    let text = "line: \(line)\nsummary: s\nrequires: [\(requires)]\nsteps:\n  - \(steps)\n"
    return (name, Array(text.utf8))
  }

  private static func open(
    _ folder: String, _ files: [File] = [], model: [File] = ModelSchema.files,
    _ policy: Store.MigrationPolicy = .ifEmpty
  ) throws -> Store {
    try openStore(
      at: folder, migrations: [MigrationSource(embedded: model), MigrationSource(embedded: files)],
      migrate: policy)
  }

  private static let level = file(
    "0001_level", "addAttribute: { to: Sample, name: level, type: int64, default: 3 }")

  // MARK: Which migrations, in which order

  @Test func aGapAndADoubleNumberAreRefused() async throws {
    try withTemporaryFolder { folder in
      let other = Self.file("0001_other", "dropIndex: { on: Sample, name: byRank }")
      let third = Self.file("0003_third", "dropIndex: { on: Sample, name: byRank }")
      for files in [[Self.level, other], [Self.level, third], [third]] {
        #expect(code { try Self.open(folder.path("s"), files) } == .migration)
      }
      // Nothing was made.
      #expect(code { try Self.open(folder.path("s"), [], .never) } == .storeMissing)
    }
  }

  @Test func aRequirementOrdersTheLines() async throws {
    try withTemporaryFolder { folder in
      let first = Self.file(
        "0001_a", line: "early", requires: "model@1, more@1",
        "createIndex: { on: Sample, name: byLevel, keys: [level] }")
      let store = try openStore(
        at: folder.path("s"),
        migrations: [
          MigrationSource(embedded: [first]), MigrationSource(embedded: [Self.level]), .model,
        ])
      let history = try store.migrationHistory().map { "\($0.line)@\($0.version)" }
      #expect(history == ["system@1", "system@2", "system@3", "model@1", "more@1", "early@1"])
      #expect(try store.migrationState().pending.isEmpty)
      #expect(try store.migrate().migrations.isEmpty)
      try requireClean(store)
    }
  }

  /// An operator's line and the program's add the same attribute.
  private static let own = file(
    "0001_own", requires: "model@1",
    "addAttribute: { to: Sample, name: image, type: string, optional: true }")
  private static let grown =
    ModelSchema.files + [
      file(
        "0002_image", line: "model", requires: "",
        "addAttribute: { to: Sample, name: image, type: url, optional: true, ifMissing: true }")
    ]

  @Test(arguments: [false, true])
  func anAttributeThatMayExistComesAfterThatOfAnotherLine(_ isUpgrade: Bool) async throws {
    try withTemporaryFolder { folder in
      if isUpgrade { try Self.open(folder.path("s"), [Self.own]).close() }
      let store = try Self.open(folder.path("s"), [Self.own], model: Self.grown)
      if isUpgrade { try store.migrate() }
      let history = try store.migrationHistory().map { "\($0.line)@\($0.version)" }
      #expect(history.suffix(3) == ["model@1", "more@1", "model@2"])
      #expect(try store.schema.entity(named: "Sample")?.attribute(named: "image")?.type == .string)
      #expect(try store.verifyMigrations() == [])
      #expect(try store.migrationState().pending.isEmpty)
      // The lines of the program without that of the store itself, which every schema has.
      let made = try Schema(of: try store.migrationLines.filter { $0.name != "system" })
      #expect(SchemaComparison(from: made, to: try store.schema).differences.isEmpty)
      try requireClean(store)
    }
  }

  @Test func anAttributeThatMayExistComesBeforeWhatRequiresIt() async throws {
    try withTemporaryFolder { folder in
      let index = Self.file(
        "0001_index", requires: "model@2",
        "createIndex: { on: Sample, name: byImage, keys: [image] }")
      let store = try Self.open(folder.path("s"), [index], model: Self.grown)
      #expect(try store.migrationHistory().suffix(2).map(\.name) == ["0002_image", "0001_index"])
      #expect(try store.verifyMigrations() == [])
      try requireClean(store)
    }
  }

  @Test(
    "A requirement that cannot be met is refused",
    arguments: ["model@2", "nowhere@1", "more@1", "model@1, nowhere@1"])
  func unmetRequirement(requires: String) async throws {
    try withTemporaryFolder { folder in
      let file = Self.file(
        "0001_x", requires: requires, "dropIndex: { on: Sample, name: byRank }")
      #expect(code { try Self.open(folder.path("s"), [file]) } == .migration)
      // All or nothing: the model was not applied alone.
      let store = try Self.open(folder.path("s"), [], .never)
      #expect(try store.schema.entities.isEmpty)
    }
  }

  // MARK: Program and store of different ages

  @Test func aStoreWithPendingMigrationsIsReadButNotWritten() async throws {
    try await withTemporaryFolder { folder in
      let old = try Self.open(folder.path("s"))
      try await old.write { _ = try $0.insert("Sample", ["name": "a"]) }
      let new = try Self.open(folder.path("s"), [Self.level])
      #expect(try new.read { try $0.count(of: "Sample") } == 1)
      #expect(await code { try await new.write { _ in } } == .needsMigration)
      #expect(try new.migrationState().pending.map(\.name) == ["0001_level"])
      #expect(try new.migrate().migrations.map(\.name) == ["0001_level"])
      try await new.write { _ = try $0.insert("Sample", ["name": "b", "level": 4]) }
      let request = FetchRequest(entityName: "Sample", sortBy: [SortKey("name")])
      #expect(try new.fetch(request).map { try $0["level"] } == [3, 4])
      // The old program does not know the new line at all, and may go on.
      try await old.write { _ = try $0.insert("Sample", ["name": "c"]) }
      #expect(try new.fetch(request).map { try $0["level"] } == [3, 4, 3])
      try requireClean(new)
    }
  }

  @Test func aNewerStoreIsReadAndNotWritten() async throws {
    try await withTemporaryFolder { folder in
      let grown = try Self.open(folder.path("s"), [], model: ModelSchema.grownFiles)
      try await grown.write { _ = try $0.insert("Sample", ["name": "a"]) }
      let old = try Self.open(folder.path("s"))
      #expect(try old.fetch(FetchRequest(entityName: "Sample")).count == 1)
      #expect(await code { try await old.write { _ in } } == .newerSchema)
      #expect(code { try old.migrate() } == .newerSchema)
      #expect(try old.migrationState().unknown.map(\.name) == ["0002_levels"])
    }
  }

  @Test func aMigrationChangedAfterItWasAppliedIsRefused() async throws {
    try await withTemporaryFolder { folder in
      _ = try Self.open(folder.path("s"), [Self.level])
      let changed = Self.file(
        "0001_level", "addAttribute: { to: Sample, name: level, type: int64, default: 4 }")
      let store = try Self.open(folder.path("s"), [changed])
      #expect(await code { try await store.write { _ in } } == .migration)
      #expect(code { try store.migrate() } == .migration)
      #expect(try store.migrationState().changed.map(\.name) == ["0001_level"])
      #expect(try store.read { try $0.count(of: "Sample") } == 0)
    }
  }

  // MARK: What steps do to records

  @Test func anAddedAttributeTouchesNoRecord() async throws {
    try await withTemporaryFolder { folder in
      let old = try Self.open(folder.path("s"))
      try await CrashPlan.prepare(old)
      let before = try Self.recordBytes(old)
      let new = try Self.open(folder.path("s"), [Self.level])
      try new.migrate()
      #expect(try Self.recordBytes(new) == before)
      let request = FetchRequest(
        entityName: "Sample", predicate: .comparison("level", .equal, 3))
      #expect(try new.fetch(request).count == CrashPlan.localRows)
      // The next write of a record gives it the new layout.
      try await new.write {
        try $0.update(ObjectID(entity: "Sample", number: 1)) { try $0.set("rank", to: 8) }
      }
      #expect(try Self.recordBytes(new).dropFirst() == before.dropFirst())
      let record = try #require(
        try new.read { try $0.get(ObjectID(entity: "Sample", number: 1)) })
      #expect(try record["level"] == 3)
      #expect(try record["note"] == "mine 0")
      try requireClean(new)
    }
  }

  @Test func anIndexIsBuiltOverTheRecordsThatAreThere() async throws {
    try await withTemporaryFolder { folder in
      let old = try Self.open(folder.path("s"))
      try await CrashPlan.prepare(old)
      try await CrashPlan.write(to: old)
      let steps = [
        "createIndex: { on: Sample, name: n1, keys: [note desc], sparse: true }",
        "createIndex: { on: Sample, name: n2, keys: [tags, title] }",
        "createIndex: { on: Sample, name: n3, keys: [code, title], unique: true }",
        "dropIndex: { on: Sample, name: byRank }",
        "createIndex: { on: Sample, name: byRank, keys: [rank desc, name] }",
      ]
      let new = try Self.open(
        folder.path("s"), [Self.file("0001_x", steps.joined(separator: "\n  - "))])
      try new.migrate()
      try requireClean(new)
      try requireWholePages(new)
      let request = FetchRequest(
        entityName: "Sample", sortBy: [SortKey("rank"), SortKey("name", descending: true)],
        requiresIndex: true)
      #expect(try new.fetch(request).count == CrashPlan.rows)
    }
  }

  @Test func aUniqueIndexOverEqualValuesFailsWithoutChanges() async throws {
    try await withTemporaryFolder { folder in
      let old = try Self.open(folder.path("s"))
      try await CrashPlan.prepare(old)
      let before = try (Self.recordBytes(old), old.schema, old.migrationHistory())
      let bad = Self.file(
        "0001_x",
        "createIndex: { on: Sample, name: n1, keys: [note] }\n"
          + "  - createIndex: { on: Sample, name: oneRank, keys: [rank], unique: true }")
      let new = try Self.open(folder.path("s"), [bad])
      #expect(code { try new.migrate() } == .uniqueViolation)
      #expect(try Self.recordBytes(new) == before.0)
      #expect(try new.schema == before.1)
      #expect(try new.migrationHistory() == before.2)
      try await old.write { _ = try $0.insert("Sample", ["name": "goes on"]) }
      try requireClean(old)
      // Once the values differ, it goes through.
      try await old.write { transaction in
        for record in try transaction.fetch(FetchRequest(entityName: "Sample")) {
          try transaction.update(record.id) { try $0.set("rank", to: .int64(record.id.number)) }
        }
      }
      try new.migrate()
      try requireClean(new)
    }
  }

  @Test(
    "A step that does not fit the schema is refused",
    arguments: [
      ("createEntity: { name: Sample, attributes: [] }", .migration),
      ("addAttribute: { to: None, name: a, type: int64, default: 1 }", .migration),
      ("addAttribute: { to: Sample, name: rank, type: int64, default: 1 }", .migration),
      ("addAttribute: { to: Sample, name: must, type: int64 }", .migration),
      ("createIndex: { on: Sample, name: byRank, keys: [rank] }", .migration),
      ("createIndex: { on: Sample, name: x, keys: [none] }", .migration),
      ("createIndex: { on: Sample, name: x, keys: [rank, rank] }", .migration),
      ("createIndex: { on: Sample, name: x, keys: [rank localized] }", .migration),
      ("createIndex: { on: Sample, name: x, keys: [tags caseInsensitive] }", .migration),
      ("createIndex: { on: Sample, name: x, keys: [state localized] }", .migration),
      ("dropIndex: { on: Sample, name: none }", .migration),
    ] as [(String, StoreError.Code)])
  func misfittingStep(step: String, expected: StoreError.Code) async throws {
    try await withTemporaryStore { temporary in
      let store = try Self.open(temporary.store.folder, [Self.file("0001_x", step)])
      let before = try store.schema
      do {
        try store.migrate()
        Issue.record("it went through")
      } catch let error as StoreError {
        #expect(error.code == expected)
        #expect(error.description.contains("more 0001_x"), "\(error)")
      }
      #expect(try store.schema == before)
    }
  }

  @Test func filesOfAFolderAreRead() async throws {
    try withTemporaryFolder { folder in
      for (name, bytes) in ModelSchema.grownFiles {
        try Data(bytes).write(to: folder.url.appendingPathComponent(name + ".yaml"))
      }
      try Data("not yaml: [".utf8).write(to: folder.url.appendingPathComponent("README.md"))
      let source = MigrationSource.directory(folder.path)
      let store = try openStore(at: folder.path("s"), migrations: [source])
      #expect(try store.schema.entity(named: "Sample")?.attributes.count == 18)
      #expect(
        code { try openStore(at: folder.path("t"), migrations: [.directory(folder.path("none"))]) }
          == .migration)
    }
  }

  private static func recordBytes(_ store: Store) throws -> [[UInt8]] {
    try store.read { transaction in
      let entity = try transaction.catalog.entity("Sample")
      var records: [[UInt8]] = []
      var cursor = try transaction.transaction.cursor(entity.tree)
      while let entry = try cursor.next() { records.append(Array(entry.value)) }
      return records
    }
  }
}
