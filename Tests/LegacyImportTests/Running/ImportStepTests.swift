import EntityStore
import Foundation
import LegacyImport
import Migrations
import TestSupport
import Testing

struct ImportStepTests {
  @Test func aMigrationImportsAFile() async throws {
    try await withLibrary { library in
      let indented = Library.mapping.split(separator: "\n").map { "        " + $0 }
        .joined(separator: "\n")
      let step = """
        line: takeover
        summary: The old library
        requires: [library@1, system.import@1]
        steps:
          - importLegacy:
              source: old
              optional: true
              mapping:
        \(indented)
        """
      let source = MigrationSource(embedded: [("0001_takeover", Array(step.utf8))])
      var options = Store.Options()
      options.flushesCommits = false
      options.mapSize = 1 << 30
      let store = try Store.open(
        at: library.store.folder + "-taken",
        migrations: [
          .legacyImport, Library.migration, source,
          .legacyImporter(.files(["old": library.file.path])),
        ],
        migrate: .create, options: options)
      try store.migrate()
      #expect(try store.read { try $0.count(of: "Book") } == 100)
      #expect(try store.imports().first?.state == "balanced")
      try requireClean(store)
    }
  }
}
