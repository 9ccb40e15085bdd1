import CMooringSQLite
import EntityModel
import EntityStore
import Foundation
import TestSupport
import Testing
import TextFormats

/// `mooring export`: the store as an SQLite file.
@Suite struct ExportTests {
  // MARK: Content

  @Test func everyRecordIsARowAndEveryRelationshipAKey() throws {
    try withSampleStore { store in
      try withTemporaryFolder { folder in
        let file = folder.path("out.sqlite")
        let run = try mooring("export", file, "--format", "json", store: store)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains(#""rows":6,"tables":2"#), "\(run.output)")
        let sqlite = try SQLiteFile(file)
        #expect(
          try sqlite.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")
            == ["Episode", "LearningPath"])
        #expect(
          try sqlite.rows(
            "SELECT _id, id, type, duration, updatedAt, progress, watchedAt, path FROM Episode "
              + "WHERE _id < 3")
            == [
              "1|ep:1|2|100|2026-01-01T00:00:00.000000Z|0.0||1",
              "2|ep:2|3|200|2026-01-02T00:00:00.000000Z|0.5|2026-02-01T00:00:00.000000Z|1",
            ])
        // Texts are whole, also beyond U+0000.
        #expect(
          try sqlite.rows("SELECT hex(title) FROM Episode WHERE _id = 4")
            == [SampleFeed.titles[3].utf8.map { String(format: "%02X", $0) }.joined()])
        #expect(
          try sqlite.rows(
            "SELECT \"table\", \"from\", \"to\" FROM pragma_foreign_key_list('Episode')")
            == ["LearningPath|path|_id"])
        let plan = try sqlite.rows(
          "EXPLAIN QUERY PLAN SELECT * FROM Episode ORDER BY updatedAt DESC LIMIT 20")
        #expect(plan.contains { $0.contains("Episode_byUpdate") }, "\(plan)")
        let unique = try sqlite.rows(
          "SELECT name FROM pragma_index_list('Episode') WHERE \"unique\"")
        #expect(unique == ["Episode_byID"])
        try sqlite.requireWhole()
        #expect(try names(in: folder) == ["out.sqlite"])
      }
    }
  }

  @Test func theSystemIsExportedIfThatIsWanted() throws {
    try withSampleStore { store in
      try withTemporaryFolder { folder in
        let file = folder.path("out.sqlite")
        #expect(try mooring("export", file, "--system", "--quiet", store: store).status == 0)
        let sqlite = try SQLiteFile(file)
        let url = try SampleStore.feedURL
        #expect(try sqlite.rows("SELECT url FROM _Feed") == [url])
        try sqlite.requireWhole()
      }
    }
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func everyValueAndLinkIsExported(_ seed: UInt64) async throws {
    try await withMenagerie(seed: seed) { menagerie in
      let file = menagerie.folder.path("out.sqlite")
      let run = try mooring("export", file, store: menagerie.store)
      #expect(run.status == 0, "\(run.errors)")
      let sqlite = try SQLiteFile(file)
      try sqlite.requireWhole()
      let store = try menagerie.open(menagerie.store)
      try store.read { transaction in
        for name in ["Order", "Table"] {
          let entity = try transaction.description(of: name)
          for record in try transaction.fetch(FetchRequest(entityName: name)) {
            let columns = entity.attributes.map { "quote(\"\($0.name)\")" }.joined(separator: ", ")
            let row = try sqlite.rows(
              "SELECT \(columns) FROM \"\(name)\" WHERE _id = \(record.id.number)",
              separator: "\u{1F}")
            let cells = row.first?.components(separatedBy: "\u{1F}") ?? []
            #expect(cells.count == entity.attributes.count)
            // A link to a deleted record is null here.
            for (field, cell) in zip(record.fields, cells) where field.name != "last" {
              #expect(cell == quoted(field.value), "seed \(seed), \(record.id) \(field.name)")
            }
          }
        }
        func expect(
          _ sql: String, _ entity: String, _ relationship: String, inOrder: Bool = true
        ) throws {
          let links = try transaction.fetchIdentifiers(FetchRequest(entityName: entity))
            .flatMap { id in
              try transaction.related(id, relationship).map { "\(id.number)|\($0.number)" }
            }
          let rows = try sqlite.rows("SELECT " + sql)
          #expect(!links.isEmpty)
          #expect(inOrder ? rows == links : rows.sorted() == links.sorted(), "seed \(seed)")
        }
        try expect(
          "_id, \"table\" FROM \"Order\" WHERE \"table\" NOT NULL ORDER BY _id", "Order", "table")
        try expect("_id, owner FROM \"Order\" WHERE owner NOT NULL ORDER BY _id", "Order", "owner")
        try expect("_id, last FROM \"Order\" WHERE last NOT NULL ORDER BY _id", "Order", "last")
        try expect(
          "Order_id, Table_id FROM Order_keepers ORDER BY Order_id, position", "Order", "keepers")
        try expect(
          "Table_id, Order_id FROM Order_keepers ORDER BY 1, inverse_position", "Table", "keeps")
        try expect("* FROM Table_friends", "Table", "friends", inOrder: false)
        try expect("* FROM Table_spouse", "Table", "spouse", inOrder: false)
        try expect(
          "_Table_extras, _id FROM \"Order\" WHERE _Table_extras NOT NULL", "Table", "extras",
          inOrder: false)
      }
    }
  }

  /// The literal of SQL that `quote` gives for a value.
  private func quoted(_ value: Value) -> String {
    func text(_ text: String) -> String {
      // `quote` ends at U+0000.
      let seen = text.prefix { $0 != "\0" }
      return "'" + seen.replacing("'", with: "''") + "'"
    }
    switch value {
    case .null: return "NULL"
    case .int64(let number): return "\(number)"
    case .bool(let flag): return flag ? "1" : "0"
    case .double(let number):
      // The same conversion as SQLite's, which the test does not repeat.
      return SQLiteFile.quote(number)
    case .data(let data): return "X'" + data.map { String(format: "%02X", $0) }.joined() + "'"
    case .strings(let list):
      return text("[" + list.map { JSONLiteral.quoted($0, .required) }.joined(separator: ",") + "]")
    case .date: return text(SQLiteFile.text(of: value.text))
    case .string, .uuid, .url, .decimal: return text(value.text)
    }
  }

  @Test func namesThatDifferOnlyInCaseGetNumbers() throws {
    try withTemporaryFolder { folder in
      let (store, migrations) = (folder.path("store"), folder.path("migrations"))
      try FileManager.default.createDirectory(atPath: migrations, withIntermediateDirectories: true)
      let file = """
        line: names
        summary: Names that SQLite does not distinguish
        steps:
          - createEntity:
              name: Item
              attributes: [{ name: url, type: string }, { name: uRL, type: string, optional: true }]
          - createEntity: { name: ITEM, attributes: [{ name: url, type: string }] }
          - createEntity: { name: Item_byURL, attributes: [{ name: rowid, type: string }] }
          - createIndex: { on: Item, name: byURL, keys: [url] }
        """
      try Data(file.utf8).write(to: URL(filePath: migrations + "/0001_names.yaml"))
      #expect(try mooring("migrate", "up", "--migrations", migrations, store: store).status == 0)
      let output = folder.path("out.sqlite")
      #expect(try mooring("export", output, store: store).status == 0)
      let names = try SQLiteFile(output).rows(
        "SELECT name FROM sqlite_schema WHERE name LIKE 'item%' ORDER BY rowid")
      let expected: Set = ["Item", "ITEM_2", "Item_byURL", "Item_byURL_2"]
      #expect(Set(names).isSuperset(of: expected), "\(names)")
      let columns = try SQLiteFile(output).rows("SELECT name FROM pragma_table_info('Item')")
      #expect(columns == ["_id", "url", "uRL_2"])
    }
  }

  // MARK: The file

  @Test func anExistingFileIsReplacedOnlyWithForce() throws {
    try withSampleStore { store in
      try withTemporaryFolder { folder in
        let file = folder.path("out.sqlite")
        try Data("mine".utf8).write(to: URL(filePath: file))
        expectFailure(try mooring("export", file, store: store), 73, "exists already", "--force")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
        #expect(try mooring("export", file, "--force", store: store).status == 0)
        #expect(try SQLiteFile(file).rows("SELECT count(*) FROM Episode") == ["5"])
        expectFailure(
          try mooring("export", folder.path, "--force", store: store), 73, "no regular file")
        expectFailure(
          try mooring("export", folder.path("none/out"), store: store), 73, "cannot be written")
        expectFailure(
          try mooring("export", store + "/data.mdb", "--force", store: store), 64,
          "in the folder of the store")
        #expect(try mooring("export", "-", store: store).status == 64)
        #expect(try mooring("export", store: store).status == 64)
        #expect(try mooring("export", file, "--format", "csv", store: store).status == 64)
        expectFailure(try mooring("export", folder.path("x"), store: folder.path("y")), 69)
        #expect(try names(in: folder) == ["out.sqlite"])
        #expect(try mooring("check", store: store).status == 0)
      }
    }
  }

  /// Built with the thread sanitizer, the program ends by SIGBUS under a limit of 16 KiB for files.
  @Test(arguments: isSanitized ? [true] : [true, false])
  func aFullDiskLeavesNoFile(_ isDevice: Bool) async throws {
    try await withMenagerie(seed: 6) { menagerie in
      let folder = try TemporaryFolder()
      defer { folder.remove() }
      if isDevice {
        guard let device = try folder.mountDevice(size: "16k") else { return }
        defer { unmountDevice(device) }
        expectFailure(
          try mooring("export", device + "/out", store: menagerie.store), 74, "make room")
        #expect(try FileManager.default.contentsOfDirectory(atPath: device).isEmpty)
      } else {
        let limited = try run(
          "mooring", ["export", folder.path("out")], in: "ulimit -f 16; exec \"$@\"",
          store: menagerie.store)
        expectFailure(limited, 74, "make room")
        #expect(try names(in: folder).isEmpty)
      }
      #expect(try mooring("export", folder.path("out"), store: menagerie.store).status == 0)
    }
  }

  @Test func aKillLeavesAWholeFileOrNone() throws {
    try withSampleStore { store in
      try withTemporaryFolder { folder in
        let (items, file) = (folder.path("items.csv"), folder.path("out.sqlite"))
        let lines = (0..<3_000).map { "mine:\($0),title \($0)" }
        try Data(("id,title\n" + lines.joined(separator: "\n")).utf8)
          .write(to: URL(filePath: items))
        #expect(try mooring("batch", "insert", "Episode", items, store: store).status == 0)
        var hasPart = false
        for _ in 0..<5 {
          let export = try StartedTool("mooring", ["export", file, "--force"], store: store)
          while !FileManager.default.fileExists(atPath: file + ".partial"),
            kill(export.pid, 0) == 0, !FileManager.default.fileExists(atPath: file)
          {
            usleep(100)
          }
          kill(export.pid, SIGKILL)
          _ = try export.finish()
          hasPart = hasPart || FileManager.default.fileExists(atPath: file + ".partial")
          if FileManager.default.fileExists(atPath: file) {
            #expect(try SQLiteFile(file).rows("SELECT count(*) FROM Episode") == ["3005"])
            try FileManager.default.removeItem(atPath: file)
          }
        }
        if !hasPart { print("no export was killed before its end") }
        #expect(try mooring("export", file, store: store).status == 0)
        try SQLiteFile(file).requireWhole()
        #expect(try names(in: folder) == ["items.csv", "out.sqlite"])
        #expect(try mooring("check", store: store).status == 0)
      }
    }
  }

  @Test func aDamagedRecordEndsTheExport() throws {
    try withSampleStore { store in
      try withTemporaryFolder { folder in
        let path = URL(filePath: store + "/data.mdb")
        var bytes = try Data(contentsOf: path)
        let title = Data("the long".utf8)
        while let place = bytes.range(of: title) {
          bytes.replaceSubrange(place, with: Data("THE LONG".utf8))
        }
        try bytes.write(to: path)
        expectFailure(
          try mooring("export", folder.path("out"), store: store), 65, "Episode")
        #expect(try names(in: folder).isEmpty)
      }
    }
  }

  private func names(in folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }
}

/// An SQLite file that a test reads.
private final class SQLiteFile {
  struct Failure: Error { let message: String }

  private var handle: OpaquePointer?

  init(_ path: String) throws {
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, nil) == SQLITE_OK else {
      throw Failure(message: String(cString: sqlite3_errmsg(handle)))
    }
  }

  deinit { sqlite3_close(handle) }

  /// Returns the rows of a query as texts.
  func rows(_ sql: String, separator: String = "|") throws -> [String] {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
      throw Failure(message: String(cString: sqlite3_errmsg(handle)))
    }
    var rows: [String] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      let cells = (0..<sqlite3_column_count(statement)).map { column in
        // SAFETY: the text ends with NUL, and is copied at once.
        sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
      }
      rows.append(cells.joined(separator: separator))
    }
    return rows
  }

  func requireWhole() throws {
    #expect(try rows("PRAGMA integrity_check") == ["ok"])
    #expect(try rows("PRAGMA foreign_key_check").isEmpty)
  }

  /// Returns the literal of a number.
  static func quote(_ number: Double) -> String {
    var handle: OpaquePointer?
    var statement: OpaquePointer?
    defer {
      sqlite3_finalize(statement)
      sqlite3_close(handle)
    }
    sqlite3_open(":memory:", &handle)
    sqlite3_prepare_v2(handle, "SELECT quote(?1)", -1, &statement, nil)
    sqlite3_bind_double(statement, 1, number)
    sqlite3_step(statement)
    return sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? ""
  }

  /// Returns the text of a date in an export for that of a value.
  static func text(of date: String) -> String {
    guard let match = date.wholeMatch(of: /(.{19})(\.[0-9]+)?Z/) else { return date }
    let fraction = match.output.2.map(String.init) ?? "."
    return match.output.1 + fraction.padding(toLength: 7, withPad: "0", startingAt: 0) + "Z"
  }
}
