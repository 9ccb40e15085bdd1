import Foundation
import TestSupport
import Testing

/// The message and status of each kind of mistake. `FILE` and `MAP` stand for the paths of a good
/// file and its mapping, `DIR` for the folder that they are in.
@Suite struct ImportUsageTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let words: String
    let status: Int32
    let parts: [String]

    init(_ words: String, _ status: Int32, _ parts: String...) {
      (self.words, self.status, self.parts) = (words, status, parts)
    }

    var testDescription: String { words }
  }

  static let rows = [
    Row("import inspct FILE", 64, "did you mean \"inspect\"?"),
    Row("import inspect", 64, "<file>"),
    Row("import inspect FILE --inheritance twice", 64, "one of 'separate' and 'merged'"),
    Row("import inspect FILE --format csv", 64, "use table or json"),
    Row("import inspect FILE --as mapping --format json", 64, "leave out --as"),
    Row("import inspect FILE --name My_Books", 64, "not a valid name of a line"),
    Row("import inspect FILE --force", 64, "--force is for"),
    Row("import inspect FILE --model DIR/none.xcdatamodel", 69, "there is no such model"),
    Row("import inspect FILE --model DIR/text.db", 65, "no model of Xcode"),
    Row("import inspect DIR/none.db", 69, "there is no such file", "none.db"),
    Row("import inspect DIR", 74, "no regular file"),
    Row("import inspect DIR/text.db", 65, "no SQLite database"),
    Row("import inspect DIR/noise.db", 65, "encrypted"),
    Row("import inspect DIR/cut.db", 65, "cut"),
    Row("import inspect FILE --mapping MAP", 73, "is there already"),
    Row("import inspect FILE --mapping DIR/no/map.yaml", 73, "cannot be written"),
    Row("import inspect FILE --migration DIR/text.db/x", 73, "cannot be made"),
    Row("import inspect FILE --missing 3", 64, "--missing is for --damaged"),
    Row("import inspect FILE --damaged --missing=-3", 64, "0 or more"),
    Row("import plan FILE", 64, "--mapping <map.yaml>"),
    Row("import plan FILE --mapping DIR/none.yaml", 69, "mooring import inspect FILE --mapping"),
    Row("import plan FILE --mapping DIR", 74, "name a readable file"),
    Row("import plan DIR/none.db --mapping MAP", 69, "there is no such file"),
    Row("import plan FILE --mapping MAP --store DIR/nowhere", 69, "DIR/nowhere"),
    Row("import plan FILE --mapping MAP --rejects MAP", 73, "is there already"),
    Row(
      "import run FILE --mapping DIR/other.yaml", 78, "the mapping does not fit the file", "none"),
    Row("import run FILE --mapping DIR/partial.yaml", 78, "does not fit the file", "pages"),
    Row("import run DIR/cut.db --mapping MAP", 65, "cut"),
    Row("import run FILE --mapping MAP --format jsonl", 64, "use table or json"),
    Row("import status nothing", 69, "nothing was imported into this store"),
    Row("import status --format csv", 64, "use table, json or jsonl"),
    Row("import status --store DIR/nowhere", 69, "DIR/nowhere"),
    Row("import rejects", 64, "<name>"),
    Row("import rejects nothing", 69, "no import \"nothing\""),
    Row("import rejects library --limit=-1", 64, "cannot be negative"),
    Row("import rejects library --format json", 64, "use table or jsonl"),
    Row("migrate up --legacy books", 64, "<name=file>"),
    Row("migrate up --legacy books=DIR/none.db", 64, "no migration has a step importLegacy"),
    Row("migrate up --legacy a=x --legacy a=y", 64, "the source a twice"),
    Row("migrate up --legacy a=x --detach", 64, "--legacy does not go with --detach"),
  ]

  @Test func everyMistakeIsReportedInOneLine() throws {
    try withOldLibrary { library in
      let folder = library.folder
      try library.write("a text, and no database", to: folder.path("text.db"))
      var random = SeededRandom(seed: 5)
      let noise = (0..<8_192).map { _ in UInt8.random(in: 0...255, using: &random) }
      try Data(noise).write(to: URL(fileURLWithPath: folder.path("noise.db")))
      let whole = try Data(contentsOf: URL(fileURLWithPath: library.file))
      try whole.prefix(whole.count - 4_096).write(
        to: URL(fileURLWithPath: folder.path("cut.db")))
      try library.write(
        OldLibrary.mapping.replacing("table: book", with: "table: none"),
        to: folder.path("other.yaml"))
      try library.write(
        OldLibrary.mapping.replacing(", pages: pages", with: ""), to: folder.path("partial.yaml"))
      for row in Self.rows {
        let words = Self.words(of: row, library)
        let run = try library.tool(words)
        #expect(run.status == row.status, "\(row.words): \(run.errors)")
        let message = run.messages.first ?? ""
        #expect(message.hasPrefix("mooring: "), "\(row.words): \(run.errors)")
        for part in row.parts {
          #expect(
            run.errors.contains(part.replacing("DIR", with: folder.path)),
            "\(row.words): \(run.errors)")
        }
        #expect(run.output.isEmpty)
      }
      #expect(try library.count("Book") == "0\n")
    }
  }

  private static func words(of row: Row, _ library: OldLibrary) -> [String] {
    row.words.split(separator: " ").map { word -> String in
      switch word {
      case "FILE": library.file
      case "MAP": library.mapping
      default: String(word).replacing("DIR", with: library.folder.path)
      }
    }
  }

  @Test func aMistakeInTheMappingHasItsPlace() throws {
    try withOldLibrary { library in
      try library.write(
        OldLibrary.mapping.replacing("pages: pages", with: "sheets: pages"), to: library.mapping)
      let run = try library.take("run")
      #expect(run.status == 78)
      #expect(run.errors.hasPrefix("\(library.mapping):11:41:"), "\(run.errors)")
      #expect(run.errors.contains("sheets") && run.errors.split(separator: "\n").count == 1)
    }
  }

  @Test func aStoreWithoutImportRecordsIsMigratedFirst() throws {
    try withOldLibrary(isMigrated: false) { library in
      try SampleStore.withoutImports(library.store)
      expectFailure(try library.take("run", "--quiet"), 78, "mooring migrate")
      expectFailure(try library.take("plan", "--quiet"), 78, "run `mooring migrate up`")
      #expect(try library.tool(["import", "status"]).errors.contains("nothing was imported"))
    }
  }
}
