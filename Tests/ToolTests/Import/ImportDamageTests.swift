import Foundation
import LegacyImport
import TestSupport
import Testing

/// The commands on a damaged file: text, JSON and exit status say the same.
@Suite struct ImportDamageTests {
  /// Cuts the file so that rows of the table of books are lost.
  private func cut(_ library: OldLibrary) throws {
    let url = URL(filePath: library.file)
    let data = try Data(contentsOf: url)
    try data.prefix(data.count * 6 / 10 / 4_096 * 4_096).write(to: url)
  }

  @Test func missingRowsAreNotBalancedUnlessTheyAreAllowed() throws {
    try withOldLibrary(books: 3_000) { library in
      try cut(library)
      // The books whose shelves are lost lose their links.
      try library.write(
        OldLibrary.mapping.replacing("dialect: plain", with: "dialect: plain\nrejects: 100%"),
        to: library.mapping)
      let without = try library.take("plan")
      #expect(without.status == 65 && without.errors.contains("--damaged"), "\(without.errors)")
      let plan = try library.take("plan", "--damaged")
      #expect(plan.status == 65, "\(plan.errors)")
      #expect(plan.output.contains("NOT BALANCED"), "\(plan.output)")
      #expect(plan.output.contains("missing of book: up to "))
      #expect(plan.output.contains("rows are missing, where 0 are allowed"))

      let run = try library.take("run", "--damaged", "--format", "json", "--quiet")
      #expect(run.status == 65, "\(run.errors)")
      let decoder = JSONDecoder()
      decoder.dateDecodingStrategy = .iso8601
      let report = try decoder.decode(ImportReport.self, from: Data(run.output.utf8))
      #expect(report.balanced == false && !report.isBalanced)
      let book = try #require(report.tables.first { $0.name == "book" })
      let missing = try #require(report.missing?.first { $0.table == "book" })
      #expect(book.rows == nil && book.unreadable == missing.atMost)
      #expect(missing.ranges == book.unreadableRows && !missing.ranges.isEmpty)
      #expect((missing.atLeast...missing.atMost).contains(3_000 - book.accepted))
      let status = try library.tool(["import", "status", "library"])
      #expect(status.output.contains("unbalanced") && status.output.contains("NOT BALANCED"))

      let few = try library.take("run", "--damaged", "--missing", "1")
      #expect(few.status == 65 && few.output.contains("where 1 are allowed"))
      let allowed = String(report.missingAtMost)
      let enough = try library.take("run", "--damaged", "--missing", allowed)
      #expect(enough.status == 0, "\(enough.output)")
      #expect(!enough.output.contains("NOT BALANCED"))
      #expect(enough.output.contains("as --missing allows"))
    }
  }

  @Test func aSoundFileWithDeletedRowsIsBalanced() throws {
    try withOldLibrary(books: 3_000) { library in
      try library.sql("DELETE FROM book WHERE id BETWEEN 700 AND 2200")
      for verb in ["plan", "run"] {
        let tool = try library.take(verb, "--damaged")
        #expect(tool.status == 0, "\(tool.output)")
        #expect(tool.output.contains("\nBALANCED") && !tool.output.contains("missing of"))
      }
      #expect(try library.count("Book") == "1499\n")
    }
  }

  @Test func aLostSchemaIsInspectedAsLostRows() throws {
    try withOldLibrary(books: 300) { library in
      let url = URL(filePath: library.file)
      var data = try Data(contentsOf: url)
      data.replaceSubrange(100..<4_096, with: Data(count: 3_996))
      try data.write(to: url)
      let inspect = try library.tool(["import", "inspect", library.file, "--damaged"])
      #expect(inspect.status == 0, "\(inspect.errors)")
      #expect(inspect.output.contains("lost_and_found_4"), "\(inspect.output)")
      #expect(inspect.output.contains("rows that fit no table"))
      // A cut that leaves no page is an error, and does not advise what was done.
      try data.prefix(4_096).write(to: url)
      let nothing = try library.tool(["import", "inspect", library.file, "--damaged"])
      #expect(nothing.status == 65, "\(nothing.output)")
      #expect(!nothing.errors.contains("--damaged"), "\(nothing.errors)")
    }
  }
}
