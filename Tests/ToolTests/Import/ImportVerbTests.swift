import Foundation
import LegacyImport
import TestSupport
import Testing

@Suite struct ImportVerbTests {
  @Test func thePlanReportsTheResultOfEachRow() throws {
    try withOldLibrary { library in
      try library.sql("UPDATE book SET shelf = NULL WHERE id = 3")
      let plan = try library.take("plan")
      #expect(plan.status == 0, "\(plan.errors)")
      #expect(
        plan.output == """
          table  rows  accepted  rejected  skipped  unreadable
          shelf     3         3         0        0           0
          book     30        30         0        0           0

          entity  new  changed  unchanged
          Shelf     3        0          0
          Book     30        0          0

          relationship  rows  linked  empty  rejected  dropped  skipped
          Book.shelf      30      29      1         0        0        0

          BALANCED: every row and every link is accounted for
          to do it, type `mooring import run '\(library.file)' --mapping \(library.mapping)`

          """)
      #expect(try library.count("Book") == "0\n")
      #expect(try library.tool(["import", "status"]).errors.contains("nothing was imported"))
    }
  }

  @Test func aRunImportsTheFileAndASecondOneChangesNothing() throws {
    try withOldLibrary { library in
      let first = try library.take("run")
      #expect(first.status == 0, "\(first.errors)")
      #expect(
        first.output.contains("entity  new  changed  unchanged  in store  edited since"))
      #expect(first.output.contains("BALANCED: every row"))
      #expect(first.output.hasSuffix("to see this again, type `mooring import status library`\n"))
      let books = try mooring(
        "fetch", "Book", "--where", "shelf.name == 'shelf 2'", "--sort", "pages", "--select",
        "title,pages", "--limit", "1", "--format", "csv", store: library.store)
      #expect(books.output == "title,pages\r\nbook 11,110\r\n", "\(books.errors)")

      try library.sql("UPDATE book SET pages = 5 WHERE id = 7; DELETE FROM book WHERE id = 8")
      let second = try library.take("run", "--format", "json", "--quiet")
      #expect(second.status == 0 && second.errors.isEmpty, "\(second.errors)")
      let report = try report(second.output)
      #expect(report.run == 2 && report.gone == 1)
      let written = report.entities.map {
        [$0.written.new, $0.written.changed, $0.written.unchanged]
      }
      #expect(written == [[0, 0, 3], [0, 1, 28]])
      #expect(try library.count("Book") == "30\n")
    }
  }

  @Test func rejectedRowsAreListedAndImportedWithACorrectedMapping() throws {
    try withOldLibrary { library in
      try library.sql(
        """
        UPDATE book SET pages = 'many' WHERE id IN (4, 5);
        UPDATE book SET title = NULL WHERE id = 6;
        """)
      let plan = try library.take("plan", "--rejects", library.folder.path("rejects.jsonl"))
      #expect(plan.status == 65)
      #expect(plan.output.contains("3 rejected, where the mapping allows 0"))
      #expect(plan.output.contains("rejected as null_required: 1\n  book 6, Book.title: "))
      let planned = try String(
        contentsOfFile: library.folder.path("rejects.jsonl"), encoding: .utf8
      ).split(separator: "\n")
      #expect(planned.count == 3)
      expectFailure(
        try library.take("plan", "--rejects", library.file, "--quiet"), 73, "is there already")

      let run = try library.take("run")
      #expect(run.status == 65 && run.output.contains("`mooring import rejects library`"))
      #expect(try library.count("Book") == "27\n")
      let rejects = try library.tool(["import", "rejects", "library"])
      #expect(rejects.status == 0 && rejects.lines.count == 3)
      #expect(rejects.errors.contains("correct the mapping, and run the import again"))
      let first = try #require(
        try JSONSerialization.jsonObject(with: Data(rejects.lines[0].utf8)) as? [String: Any])
      let row = try #require(first["row"] as? [String: Any])
      #expect(first["table"] as? String == "book" && row["title"] != nil)
      let table = try library.tool(
        ["import", "rejects", "library", "--code", "null_required", "--format", "table"])
      #expect(
        table.lines.count == 2 && table.lines[1].hasPrefix("null_required  book   6    Book.title"))
      #expect(
        try library.tool(["import", "rejects", "library", "--limit", "1", "--quiet"]).lines.count
          == 1)
      let none = try library.tool(["import", "rejects", "library", "--code", "orphan"])
      #expect(none.errors.contains("nothing was rejected as orphan; the codes are "))

      try library.write(
        OldLibrary.mapping.replacing(
          "title: title, pages: pages",
          with: "title: { column: title, orElse: untitled }, pages: { column: pages, orElse: null }"
        ),
        to: library.mapping)
      // A title that is missing stays missing; the other two are taken now.
      let again = try library.take("run")
      #expect(again.status == 65 && again.output.contains("1 rejected, where"), "\(again.errors)")
      #expect(try library.count("Book") == "29\n")
      #expect(try library.tool(["import", "rejects", "library"]).lines.count == 1)
    }
  }

  @Test func statusListsEveryImportAndShowsOneInFull() throws {
    try withOldLibrary { library in
      #expect(try library.take("run", "--quiet").status == 0)
      let list = try library.tool(["import", "status"])
      #expect(
        list.lines.count == 2 && list.lines[1].hasPrefix("library  balanced    1    33        0"))
      let one = try library.tool(["import", "status", "library"])
      #expect(one.output.contains("state    balanced\n") && one.output.contains("BALANCED: every"))
      let json = try library.tool(["import", "status", "library", "--format", "json"])
      let decoder = JSONDecoder()
      decoder.dateDecodingStrategy = .custom(anyDate)
      let status = try decoder.decode(ImportStatus.self, from: Data(json.output.utf8))
      #expect(status.state == "balanced" && status.report?.isBalanced == true)
      #expect(
        try library.tool(["import", "status", "--format", "jsonl"]).output.hasPrefix(
          #"{"finishedAt""#)
      )
    }
  }

  @Test func guessesAreListedByThePlanAndStopARun() throws {
    try withOldLibrary { library in
      try library.write(
        OldLibrary.mapping.replacing(
          "pages: pages", with: "pages: { column: pages, unconfirmed: \"pages or sheets?\" }"),
        to: library.mapping)
      let plan = try library.take("plan")
      #expect(plan.status == 0 && plan.output.contains("  Book.pages: pages or sheets?\n"))
      #expect(plan.output.contains("after that plan again; then type"))
      expectFailure(try library.take("run", "--quiet"), 78, "unconfirmed guesses", "Book.pages")
      #expect(try library.count("Book") == "0\n")
    }
  }

  @Test func recordsOfVanishedRowsAreDeletedOnRequest() throws {
    try withOldLibrary { library in
      #expect(try library.take("run").status == 0)
      try library.sql("DELETE FROM book WHERE id > 25")
      let pruned = try library.take("run", "--prune")
      #expect(pruned.status == 0, "\(pruned.output)\(pruned.errors)")
      #expect(
        pruned.output.contains(
          "records deleted because their rows are no longer in the source: 5\n"))
      #expect(try library.count("Book") == "25\n")
      try library.sql("DELETE FROM book WHERE id > 1")
      let refused = try library.take("run", "--prune")
      #expect(refused.status == 65)
      #expect(
        refused.output.contains("DELETIONS REFUSED: the rows of 24 of 28 records"),
        "\(refused.output)")
      #expect(try library.count("Book") == "25\n")
      let allowed = try library.take("run", "--prune", "--allow-deletions", "--format", "json")
      #expect(allowed.status == 0, "\(allowed.errors)")
      #expect(try report(allowed.output).pruning?.deleted == 24)
      #expect(try library.count("Book") == "1\n")
      expectFailure(try library.take("run", "--allow-deletions"), 64, "--prune")
      expectFailure(try library.take("run", "--prune", "--damaged"), 64, "--damaged")
    }
  }

  @Test func linesWithZerosAloneAreLeftOutOfTheTextAndNotOfTheJSON() throws {
    try withOldLibrary { library in
      try library.sql("DELETE FROM book")
      let run = try library.take("run")
      #expect(run.status == 0, "\(run.errors)")
      #expect(
        run.output.hasPrefix(
          """
          table  rows  accepted  rejected  skipped  unreadable
          shelf     3         3         0        0           0

          entity  new  changed  unchanged  in store  edited since  deleted since
          Shelf     3        0          0         3             0              0

          not listed, with zeros alone: 1 table, 1 entity, 1 relationship; --format json has all

          BALANCED:
          """), "\(run.output)")
      let all = try report(try library.take("run", "--format", "json", "--quiet").output)
      #expect(all.tables.map(\.name) == ["shelf", "book"])
      #expect(all.entities.count == 2 && all.relationships.count == 1)
    }
  }

  private func report(_ output: String) throws -> ImportReport {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom(anyDate)
    return try decoder.decode(ImportReport.self, from: Data(output.utf8))
  }
}

/// With or without fractions of a second.
@Sendable private func anyDate(_ decoder: any Decoder) throws -> Date {
  let text = try decoder.singleValueContainer().decode(String.self)
  let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
  return try Date(text, strategy: style)
}
