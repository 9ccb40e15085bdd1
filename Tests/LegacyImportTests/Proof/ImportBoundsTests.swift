import EntityModel
import EntityStore
import Foundation
import LegacyImport
import Migrations
import TestSupport
import Testing

/// The memory and disk space of an import do not grow with the file.
@Suite(.serialized) struct ImportBoundsTests {
  private static let migration = """
    line: big
    summary: What large files are imported to
    steps:
      - createEntity:
          name: Row
          attributes:
            - { name: a, type: int64, optional: true, owner: local }
            - { name: b, type: string, optional: true, owner: local }
            - { name: c, type: string, optional: true, owner: local }
            - { name: d, type: double, optional: true, owner: local }
            - { name: e, type: date, optional: true, owner: local }
            - { name: f, type: data, optional: true, owner: local }
            - { name: g, type: bool, optional: true, owner: local }
      - createIndex: { on: Row, name: byA, keys: [a] }
      - createRelationship:
          { on: Row, name: next, to: Row, inverse: { name: before, many: true } }
    """

  private static let mapping = """
    import: big
    dialect: plain
    rejects: 10
    entities:
      - entity: Row
        table: t
        key: [id]
        attributes:
          a: a
          b: b
          c: c
          d: d
          e: { column: e, date: unixSeconds }
          f: f
          g: g
        relationships: { next: { column: n, table: t } }
    """

  @Test func memoryDoesNotGrowWithTheRows() throws {
    let rows = isThorough ? 1_000_000 : 30_000
    try run(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c TEXT, d REAL, e REAL, f BLOB,
        g INTEGER, n INTEGER);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
      INSERT INTO t SELECT i, i % 1000, 'title ' || i, printf('%.*c', i % 200, 'x'), i / 3.0,
        1700000000 + i, x'00ff', i % 2, iif(i % 10, i + 1 - i % 10, NULL) FROM n;
      """
    ) { child, store in
      let lines = child.lines
      #expect(lines.last == "ended true 1 []")
      let count = try store.read { try $0.count(of: "Row") }
      #expect(count == rows)
      try expectLittleMemory(of: child)
    }
  }

  @Test func aValueThatIsTooLargeIsARejectAndIsNeverReadWhole() throws {
    try run(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c TEXT, d REAL, e REAL, f BLOB,
        g INTEGER, n INTEGER);
      INSERT INTO t (id, a, f) VALUES (1, 1, x'01'), (2, 2, zeroblob(200 << 20)), (3, 3, x'03'),
        (4, 4, zeroblob(15 << 20));
      """
    ) { child, store in
      let lines = child.lines
      #expect(lines.last == #"ended true 1 ["too_large=1"]"#)
      let count = try store.read { try $0.count(of: "Row") }
      #expect(count == 3)
      try expectLittleMemory(of: child)
    }
  }

  @Test func withoutSpaceForTheCopyNoFileRemains() throws {
    try withTemporaryFolder { folder in
      guard let device = try folder.mountDevice(size: "4m") else { return }
      defer { unmountDevice(device) }
      let path = folder.path("large.db")
      try MadeDatabase.make(
        at: path, "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(8 << 20));")
      var options = LegacyFile.Options()
      options.scratchFolder = device
      do {
        _ = try LegacyFile(path, options).inspect()
        Issue.record("it was copied")
      } catch let error as ImportError {
        #expect(error.code == .noSpace)
        #expect(!error.description.contains("\n"))
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: device).isEmpty)
    }
  }

  // MARK: Parts

  private struct Child {
    let lines: [String]

    /// In bytes.
    var memory: Int {
      get throws {
        let line = try #require(lines.first { $0.hasPrefix("memory ") })
        return try #require(Int(line.dropFirst("memory ".count)))
      }
    }
  }

  private func expectLittleMemory(of child: Child) throws {
    if isSanitized { return }
    let memory = try child.memory
    print("the import took \(memory >> 20) MiB")
    #expect(memory < 150 << 20)
  }

  /// Imports a file created by SQL, in a separate process.
  private func run(_ sql: String, _ body: (Child, Store) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let path = folder.path("big.db")
      try MadeDatabase.make(at: path, sql)
      let mapping = folder.path("big.yaml")
      let migrations = folder.path("migrations")
      try Data(Self.mapping.utf8).write(to: URL(filePath: mapping))
      try FileManager.default.createDirectory(
        atPath: migrations, withIntermediateDirectories: true)
      try Data(Self.migration.utf8).write(to: URL(filePath: migrations + "/0001_big.yaml"))
      let store = try openStore(
        at: folder.path("store"), migrations: [.legacyImport, .directory(migrations)],
        mapSize: 8 << 30)
      let child = try ChildProcess(
        childExecutable(named: "store-child"),
        ["import-run", store.folder, path, mapping, migrations])
      var lines: [String] = []
      while let line = child.readLine() { lines.append(line) }
      try #require(child.waitForExit().status == 0, "\(lines.suffix(3)) \(child.readErrors())")
      try body(Child(lines: lines), store)
      try requireClean(store)
    }
  }
}
