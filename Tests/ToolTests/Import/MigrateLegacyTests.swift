import DurableJobs
import EntityStore
import FeedSync
import Foundation
import HomeFeed
import Migrations
import TestSupport
import Testing

@Suite struct MigrateLegacyTests {
  private func step(isOptional: Bool) -> String {
    let mapping = OldLibrary.mapping.split(separator: "\n", omittingEmptySubsequences: false)
      .map { "        " + $0 }.joined(separator: "\n")
    return """
      line: takeover
      summary: The old books
      requires: [library@1, system.import@1]
      steps:
        - importLegacy:
            source: books
            optional: \(isOptional)
            mapping:
      \(mapping)
      """
  }

  private func migrate(_ library: OldLibrary, _ words: String...) throws -> ToolRun {
    try library.tool(["migrate"] + words + ["--migrations", library.migrations])
  }

  @Test func aMigrationImportsTheGivenFile() throws {
    try withOldLibrary { library in
      try library.write(
        step(isOptional: false), to: library.migrations + "/0001_takeover.yaml")
      let plan = try migrate(library, "plan")
      #expect(plan.output.contains("import the legacy file books"), "\(plan.errors)")
      #expect(plan.output.contains("type `mooring migrate up --legacy books=FILE`"))
      expectFailure(try migrate(library, "up"), 78, "name its file: --legacy books=FILE")
      expectFailure(
        try migrate(library, "up", "--legacy", "book=\(library.file)"), 64,
        "did you mean \"books\"?")
      expectFailure(
        try migrate(library, "up", "--legacy", "books=/nonexistent/x"), 69, "/nonexistent/x")
      let source = "books=\(library.file)"
      let given = try migrate(library, "plan", "--legacy", source)
      #expect(given.output.contains("type `mooring migrate up --legacy '\(source)'`"))
      let up = try migrate(library, "up", "--legacy", source)
      #expect(
        up.status == 0 && up.errors.contains("applied takeover 0001_takeover"), "\(up.errors)")
      #expect(try library.count("Book") == "30\n")
      #expect(try library.tool(["import", "status"]).lines.last?.contains("balanced") == true)
    }
  }

  @Test func anOptionalFileMayBeOmitted() throws {
    try withOldLibrary { library in
      try library.write(
        step(isOptional: true), to: library.migrations + "/0001_takeover.yaml")
      #expect(try migrate(library, "plan").output.contains("type `mooring migrate up`"))
      #expect(try migrate(library, "up").status == 0)
      #expect(try library.count("Book") == "0\n")
    }
  }
}

extension SampleStore {
  /// A store as it was before there were imports.
  static func withoutImports(_ folder: String) throws {
    try Store.open(at: folder, migrations: [.feeds, .homeFeed, .jobs], migrate: .ifEmpty).close()
  }
}
