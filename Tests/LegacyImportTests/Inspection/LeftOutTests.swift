import EntityModel
import EntityStore
import Foundation
import LegacyImport
import Migrations
import StrictYAML
import TestSupport
import Testing

/// Parts of a file that an import cannot read, or does not take by itself, are named.
@Suite struct LeftOutTests {
  private static let virtual = """
    CREATE TABLE doc (id INTEGER PRIMARY KEY, text TEXT);
    INSERT INTO doc VALUES (1, 'of its own');
    CREATE VIRTUAL TABLE note USING fts5(title, body);
    INSERT INTO note VALUES ('a', 'first'), ('b', 'second');
    CREATE VIRTUAL TABLE old USING fts4(words);
    INSERT INTO old VALUES ('third');
    CREATE VIRTUAL TABLE found USING fts5(text, content='doc', content_rowid='id');
    CREATE VIRTUAL TABLE place USING rtree(id, x0, x1);
    INSERT INTO place VALUES (1, 2, 3);
    """

  @Test func textsOfFullTextTablesAreImportedAndOtherVirtualTablesAreNamed() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("virtual.db")
      try MadeDatabase.make(at: path, Self.virtual)
      let proposal = try LegacyFile(path).inspect()
      #expect(
        proposal.warnings == [
          "the full-text table \"found\" has no texts of its own and is left out",
          "the rows of the virtual table \"place\" (rtree) are left out: only its module can read "
            + "them",
        ])
      #expect(Set(proposal.entities.map(\.table)) == ["doc", "note_content", "old_content"])
      #expect(proposal.mapping.contains("CREATE VIRTUAL TABLE note USING fts5(title, body)"))
      #expect(proposal.mapping.contains("tables: [found, note, old, place]"))
      try await withProposedImport(of: path) { proposed in
        let report = try proposed.run()
        #expect(report.isBalanced && report.rejected == 0, "\(problems(of: report))")
        #expect(report.warnings.isEmpty, "\(report.warnings)")
        try proposed.store.read { snapshot in
          let texts = try snapshot.fetch(FetchRequest(entityName: "NoteContent"))
            .map { try $0["c1"] }
          #expect(texts == [.string("first"), .string("second")])
          #expect(try snapshot.count(of: "OldContent") == 1)
        }
      }
    }
  }

  /// An earlier version has proposed such a mapping.
  @Test func aMappingThatDoesNotMentionVirtualTablesIsUsedWithAWarning() async throws {
    let steps = """
      - createEntity:
          name: Doc
          attributes: [{ name: text, type: string, optional: true, owner: local }]
      """
    let mapping = """
      entities:
        - { entity: Doc, table: doc, key: [id], attributes: { text: text } }
      """
    try await withMadeImport(steps: steps, mapping: mapping, Self.virtual) { made in
      let report = try made.planAndRun()
      let (plan, _) = try made.plan()
      #expect(plan.warnings == report.warnings && report.warnings.count == 4)
      #expect(report.warnings.contains { $0.contains("\"note_content\", which a mapping") })
    }
    try await withMadeImport(
      steps: steps, mapping: mapping + "\nskip: { tables: [note, old, found, place] }\n",
      Self.virtual
    ) { made in
      let report = try made.planAndRun()
      #expect(report.warnings.isEmpty, "\(report.warnings)")
    }
  }

  /// The function of the other program is not there when the file is imported.
  @Test func aColumnThatCannotBeComputedIsNamedAndTheRestIsRead() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("computed.db")
      try MadeDatabase.make(
        at: path,
        """
        CREATE TABLE sound (id INTEGER PRIMARY KEY, a TEXT, b TEXT AS (upper(a)) VIRTUAL);
        INSERT INTO sound (id, a) VALUES (1, 'x');
        CREATE TABLE broken (id INTEGER PRIMARY KEY, a TEXT,
          unknown TEXT AS (printf(a)) VIRTUAL UNIQUE,
          failing TEXT AS (json_extract(a, '$.x')) VIRTUAL,
          kept TEXT AS (lower(a)) STORED);
        INSERT INTO broken (id, a) VALUES (1, '{"x": "y"}'), (2, '["no JSON"]');
        """)
      try MadeDatabase.rename("printf", to: "prantf", at: path)
      try MadeDatabase.rename("[\"no JSON\"]", to: "[\"no JSON\"}", at: path)
      let proposal = try LegacyFile(path).inspect()
      let left = proposal.warnings.filter { $0.contains("is left out: it is not stored") }
      #expect(left.count == 2 && left[0].contains("failing") && left[1].contains("prantf"))
      try await withProposedImport(of: path) { proposed in
        let report = try proposed.run()
        #expect(report.isBalanced && report.rejected == 0, "\(problems(of: report))")
        #expect(report.warnings.filter { $0.contains("is left out") } == left)
        try proposed.store.read { snapshot in
          let broken = try snapshot.fetch(FetchRequest(entityName: "Broken"))
            .map { try $0["a"].text }
          #expect(broken == ["{\"x\": \"y\"}", "[\"no JSON\"}"])
          let sound = try snapshot.fetch(FetchRequest(entityName: "Sound"))
            .map { try $0["b"].text }
          #expect(sound == ["X"])
        }
      }
    }
  }

  @Test func columnsAfterThe400thAreSkippedByNameAndCanBeMapped() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("wide.db")
      let columns = (1...450).map { "c\($0) TEXT" }.joined(separator: ", ")
      try MadeDatabase.make(
        at: path,
        """
        CREATE TABLE wide (\(columns));
        INSERT INTO wide (c1, c400, c401, c450) VALUES ('first', 'last', 'left', 'out');
        """)
      let proposal = try LegacyFile(path).inspect()
      #expect(proposal.warnings.contains { $0.contains("\"c401\"") && $0.contains("450 columns") })
      try await withProposedImport(of: path) { proposed in
        #expect(
          proposed.mapping.skippedColumns["wide"] == Set((401...450).map { "c\($0)" }))
        let report = try proposed.run()
        #expect(report.isBalanced && report.rejected == 0, "\(problems(of: report))")
        let record = try #require(
          try proposed.store.read { try $0.fetch(FetchRequest(entityName: "Wide")) }.first)
        #expect(try record["c400"] == .string("last"))
      }
      // One of them takes the place of another.
      let text = proposal.mapping.replacing("c400: c400", with: "c401: c401")
        .replacing("- c401\n", with: "- c400\n")
      let migration = proposal.migration.replacing("name: c400,", with: "name: c401,")
      let sources = [
        MigrationSource.legacyImport,
        MigrationSource(embedded: [("0001_wide", Array(migration.utf8))]),
      ]
      try await withTemporaryStore(migrations: sources) { temporary in
        let report = try LegacyFile(path).run(
          try MappingText(Array(text.utf8), file: "wide.yaml"), in: temporary.store)
        #expect(report.isBalanced && report.rejected == 0, "\(problems(of: report))")
        let record = try #require(
          try temporary.store.read { try $0.fetch(FetchRequest(entityName: "Wide")) }.first)
        #expect(try record["c401"] == .string("left"))
      }
    }
  }
}

extension MadeDatabase {
  /// Changes a word of the same length in the schema of a file.
  fileprivate static func rename(_ word: String, to other: String, at path: String) throws {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    while let place = bytes.range(of: Data(word.utf8)) {
      bytes.replaceSubrange(place, with: Data(other.utf8))
    }
    try bytes.write(to: URL(fileURLWithPath: path))
  }
}
