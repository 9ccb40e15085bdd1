import EntityModel
import EntityStore
import Foundation
import LegacyImport
import Migrations
import SystemSupport
import TestSupport
import Testing

/// Imports as a part of a line of migrations.
struct ImportStepProofTests {
  /// Returns a migration line: a schema, the import, and an index on the imported records.
  private static func line(isOptional: Bool = false, rejects: String = "0") -> MigrationSource {
    let mapping = Library.mapping.replacing("rejects: 1000000", with: "rejects: \(rejects)")
    let indented = mapping.split(separator: "\n").map { "        " + $0 }.joined(separator: "\n")
    return MigrationSource(embedded: [
      (
        "0001_before",
        Array(
          """
          line: takeover
          summary: What comes before
          requires: [library@1, system.import@1]
          steps:
            - createEntity:
                name: Note
                attributes: [{ name: text, type: string, owner: local }]
          """.utf8)
      ),
      (
        "0002_takeover",
        Array(
          """
          line: takeover
          summary: The old library
          steps:
            - createEntity:
                name: Before
                attributes: [{ name: text, type: string, owner: local }]
            - importLegacy:
                source: old
                optional: \(isOptional)
                mapping:
          \(indented)
            - createIndex: { on: Book, name: byTitle, keys: [title] }
          """.utf8)
      ),
    ])
  }

  private func open(
    _ library: Library, _ line: MigrationSource, _ files: [String: String]?,
    commitDuration: Duration = Store.Options().commitDuration
  ) throws -> Store {
    var options = Store.Options()
    options.flushesCommits = false
    options.commitDuration = commitDuration
    options.mapSize = 1 << 30
    let importer = files.map { [MigrationSource.legacyImporter(.files($0))] } ?? []
    return try Store.open(
      at: library.store.folder + "-taken",
      migrations: [.legacyImport, Library.migration, line] + importer,
      migrate: .never, options: options)
  }

  /// - Returns: The error of a migration, which must fail.
  private func failure(of store: Store, _ options: MigrationOptions = .init()) throws -> String {
    do {
      try store.migrate(options)
    } catch let error as StoreError {
      #expect(!error.description.contains("\n"))
      return error.description
    }
    Issue.record("it was applied")
    return ""
  }

  private func schema(of store: Store) throws -> Schema { try store.read { $0.schema } }

  /// Returns true if the step after the import is done.
  private func isIndexed(_ store: Store) throws -> Bool {
    try schema(of: store).entity(named: "Book")?.indexes.contains { $0.name == "byTitle" } == true
  }

  @Test func aMissingSourceArgumentIsReportedBeforeAnythingRuns() async throws {
    try await withLibrary { library in
      _ = try Store.open(
        at: library.store.folder + "-taken", migrations: [.legacyImport, Library.migration],
        migrate: .create)
      let store = try open(library, Self.line(), [:])
      let error = try failure(of: store)
      #expect(error.contains("--legacy old=FILE"), "\(error)")
      #expect(try schema(of: store).entity(named: "Note") == nil)
      let without = try failure(of: try open(library, Self.line(), nil))
      #expect(without.contains("cannot import legacy files"), "\(without)")
    }
  }

  @Test func aMissingSourceIsNamedAndTheStepsBeforeItStayApplied() async throws {
    try await withLibrary { library in
      _ = try Store.open(
        at: library.store.folder + "-taken", migrations: [.legacyImport, Library.migration],
        migrate: .create)
      let missing = library.file.path + "-missing"
      let store = try open(library, Self.line(), ["old": missing])
      let error = try failure(of: store)
      #expect(error.contains("there is no such file") && error.contains(missing), "\(error)")
      #expect(try schema(of: store).entity(named: "Note") != nil)
      #expect(try !isIndexed(store))
      let given = try open(library, Self.line(), ["old": library.file.path])
      try given.migrate()
      #expect(try given.read { try $0.count(of: "Book") } == 100)
      #expect(try isIndexed(given))
      try requireClean(given)
    }
  }

  @Test func withoutAnOptionalSourceTheLineContinues() async throws {
    try await withLibrary { library in
      _ = try Store.open(
        at: library.store.folder + "-taken", migrations: [.legacyImport, Library.migration],
        migrate: .create)
      let store = try open(library, Self.line(isOptional: true), [:])
      try store.migrate()
      #expect(try store.read { try $0.count(of: "Book") } == 0)
      #expect(try isIndexed(store))
    }
  }

  @Test func moreRejectsThanAllowedHoldTheLineUntilTheFileIsCorrected() async throws {
    try await withLibrary { library in
      _ = try Store.open(
        at: library.store.folder + "-taken", migrations: [.legacyImport, Library.migration],
        migrate: .create)
      try library.file.run("UPDATE book SET pages = 'twelve' WHERE id = 2")
      let store = try open(library, Self.line(), ["old": library.file.path])
      let error = try failure(of: store)
      #expect(error.contains("3 were rejected, 0 are allowed"), "\(error)")
      // The row itself, and the links from and to it.
      #expect(try store.read { try $0.count(of: "Book") } == 99)
      #expect(try !isIndexed(store))
      #expect(try store.imports().first?.rejects == 3)
      try library.file.run("UPDATE book SET pages = 12 WHERE id = 2")
      try store.migrate()
      #expect(try store.read { try $0.count(of: "Book") } == 100)
      #expect(try store.imports().first?.rejects == 0)
      #expect(try isIndexed(store))
      try requireClean(store)
    }
  }

  @Test func aMigrationThatIsInterruptedInTheImportResumesThere() async throws {
    try await withLibrary(books: 10_000) { library in
      _ = try Store.open(
        at: library.store.folder + "-taken", migrations: [.legacyImport, Library.migration],
        migrate: .create)
      // Each chunk has its own commit, so that the import can be stopped before its end.
      let store = try open(
        library, Self.line(), ["old": library.file.path], commitDuration: .zero)
      let isFar = Locked(false)
      var options = MigrationOptions()
      options.isCancelled = { isFar.withLock { $0 } }
      options.progress = { progress in
        if progress.done >= 4_000 { isFar.withLock { $0 = true } }
      }
      #expect(throws: CancellationError.self) { try store.migrate(options) }
      let done = try store.read { try $0.count(of: "Book") }
      #expect(done >= 4_000 && done < 10_000)
      try store.migrate()
      #expect(try store.read { try $0.count(of: "Book") } == 10_000)
      #expect(try store.imports().first?.run == 1)
      try requireClean(store)
    }
  }

  @Test func aMappingThatDoesNotFitIsReportedWithItsPlace() async throws {
    try await withLibrary { library in
      _ = try Store.open(
        at: library.store.folder + "-taken", migrations: [.legacyImport, Library.migration],
        migrate: .create)
      try library.file.run("ALTER TABLE book ADD COLUMN later")
      let store = try open(library, Self.line(), ["old": library.file.path])
      let error = try failure(of: store)
      #expect(error.contains("later") && error.contains("takeover"), "\(error)")
    }
  }
}
