import EntityModel
import EntityStore
import LegacyImport
import SystemSupport
import TestSupport
import Testing

/// Records are deleted with the rows that they came from.
struct PruningTests {
  private static var pruning: LegacyFile.Options {
    var options = LegacyFile.Options()
    options.prunes = true
    return options
  }

  @Test func recordsOfVanishedRowsAreDeletedOnRequest() async throws {
    try await withLibrary { library in
      try library.run()
      try library.file.run("DELETE FROM book WHERE id IN (30, 31)")
      try library.file.run("DELETE FROM tag WHERE word = 'red'")
      let kept = try library.run()
      #expect(kept.gone == 3 && kept.pruning == nil)
      #expect(try library.count("Book") == 100)
      let report = try library.run(Library.mapping, Self.pruning)
      #expect(report.isBalanced, "\(problems(of: report))")
      #expect(report.pruning?.deleted == 3 && report.pruning?.refused == 0 && report.gone == 0)
      #expect(try library.count("Book") == 98 && library.count("Tag") == 2)
      #expect(try library.book(30) == nil && library.book(29) != nil)
      // Nothing leads to them: the rows with these links are rejects now.
      #expect(report.relationships.map(\.rejected) == [0, 34, 1])
      #expect(report.rejects == ["orphan": 35])
      #expect(try library.store.imports().first?.report?.pruning == report.pruning)
      // A row that returns becomes a new record.
      try library.file.run("INSERT INTO book (id, isbn, title) VALUES (30, 'isbn 30', 'again')")
      let again = try library.run(Library.mapping, Self.pruning)
      #expect(again.isBalanced && again.pruning?.deleted == 0)
      #expect(again.entities[1].written.new == 1)
      #expect(try library.book(30)?["title"] == .string("again"))
    }
  }

  @Test func mostOfTheRecordsAreDeletedOnlyIfThatIsAllowed() async throws {
    try await withLibrary { library in
      try library.run()
      try library.file.run("DELETE FROM book WHERE id > 40")
      try library.file.run("UPDATE book SET sequel = NULL WHERE id = 40")
      try library.file.run("DELETE FROM book_tag WHERE book > 40")
      let refused = try library.run(Library.mapping, Self.pruning)
      #expect(refused.isBalanced, "\(problems(of: refused))")
      #expect(refused.pruning?.refused == 60 && refused.pruning?.deleted == 0)
      #expect(refused.pruning?.known == 105 && refused.gone == 60)
      #expect(try library.count("Book") == 100)
      var options = Self.pruning
      options.allowsDeletions = true
      let allowed = try library.run(Library.mapping, options)
      #expect(allowed.isBalanced, "\(problems(of: allowed))")
      #expect(allowed.pruning?.deleted == 60 && allowed.gone == 0)
      #expect(try library.count("Book") == 40)
    }
  }

  /// All rows with other keys are as suspicious as no rows.
  @Test func newRecordsDoNotMakeAnotherFileLookLikeTheSame() async throws {
    try await withLibrary { library in
      try library.run()
      try library.file.run("UPDATE book SET id = id + 1000, isbn = 'new ' || isbn, sequel = NULL")
      try library.file.run("UPDATE book_tag SET book = book + 1000")
      let report = try library.run(Library.mapping, Self.pruning)
      #expect(report.entities[1].written.new == 100)
      #expect(report.pruning?.refused == 100 && report.pruning?.deleted == 0)
      #expect(try library.count("Book") == 200)
    }
  }

  @Test func rowsThatTheMappingLeavesOutHaveNotVanished() async throws {
    try await withLibrary { library in
      try library.run()
      let some = Library.mapping.replacing(
        "table: book\n", with: "table: book\n    unless: { pages: [0] }\n")
      let filtered = try library.run(some, Self.pruning)
      #expect(filtered.pruning?.deleted == 0 && filtered.pruning?.refused == 0)
      let cut =
        Library.mapping.replacing(
          "  - entity: Tag\n    table: tag\n    key: [word]\n    attributes: { word: word }",
          with: ""
        ).replacing(
          "      tags: { join: book_tag, owner: book, target: tag, order: place, table: tag }\n",
          with: "") + "skip: { tables: [tag, book_tag] }\n"
      let smaller = try library.run(cut, Self.pruning)
      #expect(smaller.pruning?.deleted == 0 && smaller.gone == 3)
      #expect(try library.count("Book") == 100 && library.count("Tag") == 3)
    }
  }

  @Test func recordsThatWereThereBeforeTheImportStay() async throws {
    try await withLibrary { library in
      try await library.store.write { transaction in
        try transaction.insert("Book", ["isbn": "isbn 3", "title": "there"])
      }
      let matching = Library.mapping.replacing(
        "table: book\n", with: "table: book\n    match: [isbn]\n")
      try library.run(matching)
      try library.file.run(
        """
        UPDATE book SET sequel = NULL WHERE sequel = 3;
        DELETE FROM book WHERE id = 3;
        DELETE FROM book_tag WHERE book = 3;
        """)
      let report = try library.run(matching, Self.pruning)
      #expect(report.isBalanced, "\(problems(of: report))")
      #expect(report.pruning?.matched == 1 && report.pruning?.deleted == 0)
      #expect(try library.book(3) != nil)
    }
  }

  @Test func aRunThatIsStoppedWhileItPrunesCountsAllDeletionsInTheEnd() async throws {
    try await withLibrary(books: 9_000) { library in
      try library.run()
      try library.file.run(
        """
        DELETE FROM book_tag WHERE book > 5000; DELETE FROM book WHERE id > 5000;
        UPDATE book SET sequel = NULL WHERE id = 5000;
        """)
      let before = try library.count("Book")
      let isStopped = Locked(false)
      var options = Self.pruning
      let store = library.store
      options.isCancelled = {
        let count = try? store.read { try $0.count(of: "Book") }
        return isStopped.withLock { stopped in
          if let count, count < before { stopped = true }
          return stopped
        }
      }
      #expect(throws: CancellationError.self) { try library.run(Library.mapping, options) }
      let left = try library.count("Book")
      #expect(left < before)
      let report = try library.run(Library.mapping, Self.pruning)
      #expect(report.isBalanced && report.run == 2, "\(problems(of: report))")
      #expect(report.pruning?.deleted == 4_000)
      #expect(try library.count("Book") == 5_000)
    }
  }

  @Test func deleteRulesApplyAndARecordThatProtectsAnotherMayGoItself() async throws {
    let steps = """
      - createEntity:
          name: Owner
          attributes: [{ name: name, type: string, owner: local }]
      - createEntity:
          name: Thing
          attributes: [{ name: name, type: string, owner: local }]
      - createRelationship:
          on: Thing
          name: owner
          to: Owner
          inverse: { name: things, many: true, deleteRule: deny }
      """
    let mapping = """
      entities:
        - { entity: Owner, table: owner, key: [id], attributes: { name: name } }
        - entity: Thing
          table: thing
          key: [id]
          attributes: { name: name }
          relationships: { owner: { column: owner, table: owner } }
      """
    try await withMadeImport(
      steps: steps, mapping: mapping,
      """
      CREATE TABLE owner (id INTEGER PRIMARY KEY, name);
      CREATE TABLE thing (id INTEGER PRIMARY KEY, name, owner);
      INSERT INTO owner VALUES (1, 'one'), (2, 'two'), (3, 'three');
      INSERT INTO thing VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3);
      """
    ) { made in
      try made.run()
      try made.change("DELETE FROM owner WHERE id < 3; DELETE FROM thing WHERE id = 1")
      let text = "import: made\ndialect: plain\nrejects: 100%\n" + made.mapping
      let report = try LegacyFile(made.path, Self.pruning).run(
        MappingText(Array(text.utf8), file: "made.yaml"), in: made.store)
      #expect(report.pruning?.deleted == 2 && report.pruning?.denied == 1)
      #expect(try made.values("Owner", "name") == ["two", "three"])
      #expect(try made.values("Thing", "name") == ["b", "c"])
    }
  }

  @Test func aCascadeDoesNotReachARecordWhoseRowIsStillThere() async throws {
    let steps = """
      - createEntity:
          name: Owner
          attributes: [{ name: name, type: string, owner: local }]
      - createEntity:
          name: Thing
          attributes: [{ name: name, type: string, owner: local }]
      - createRelationship:
          on: Thing
          name: owner
          to: Owner
          optional: true
          inverse: { name: things, many: true, deleteRule: cascade }
      """
    let mapping = """
      entities:
        - { entity: Owner, table: owner, key: [id], attributes: { name: name } }
        - entity: Thing
          table: thing
          key: [id]
          attributes: { name: name }
          relationships: { owner: { column: owner, table: owner, orphan: drop } }
      """
    try await withMadeImport(
      steps: steps, mapping: mapping,
      """
      CREATE TABLE owner (id INTEGER PRIMARY KEY, name);
      CREATE TABLE thing (id INTEGER PRIMARY KEY, name, owner);
      INSERT INTO owner VALUES (1, 'one'), (2, 'two');
      INSERT INTO thing VALUES (1, 'moved', 1), (2, 'dangling', 1), (3, 'gone', 1);
      """
    ) { made in
      try made.run()
      try made.change(
        """
        UPDATE thing SET owner = 2 WHERE id = 1; DELETE FROM owner WHERE id = 1;
        DELETE FROM thing WHERE id = 3
        """)
      let text = "import: made\ndialect: plain\n" + made.mapping
      let report = try LegacyFile(made.path, Self.pruning).run(
        MappingText(Array(text.utf8), file: "made.yaml"), in: made.store)
      #expect(report.isBalanced && report.pruning?.deleted == 2, "\(problems(of: report))")
      #expect(try made.values("Owner", "name") == ["two"])
      #expect(try made.values("Thing", "name") == ["moved", "dangling"])
    }
  }

  @Test func aTableThatHasBecomeEmptyIsNotPrunedAtOnce() async throws {
    let steps = """
      - createEntity:
          name: Log
          attributes: [{ name: name, type: string, owner: local }]
      - createEntity:
          name: Note
          attributes: [{ name: name, type: string, owner: local }]
      """
    let mapping = """
      entities:
        - { entity: Log, table: log, key: [id], attributes: { name: name } }
        - { entity: Note, table: note, key: [id], attributes: { name: name } }
      """
    try await withMadeImport(
      steps: steps, mapping: mapping,
      """
      CREATE TABLE log (id INTEGER PRIMARY KEY, name);
      CREATE TABLE note (id INTEGER PRIMARY KEY, name);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
        INSERT INTO log SELECT i, 'log' FROM n;
      INSERT INTO note SELECT id, 'note' FROM log WHERE id <= 40;
      """
    ) { made in
      try made.run()
      try made.change("DELETE FROM note")
      let text = "import: made\ndialect: plain\n" + made.mapping
      let report = try LegacyFile(made.path, Self.pruning).run(
        MappingText(Array(text.utf8), file: "made.yaml"), in: made.store)
      #expect(report.pruning?.refused == 40 && report.pruning?.deleted == 0)
      #expect(try made.values("Note", "name").count == 40)
    }
  }

  @Test func aDamagedFilePrunesNothing() async throws {
    try await withLibrary { library in
      try library.run()
      var options = Self.pruning
      options.allowsDamage = true
      #expect(throws: ImportError.self) { try library.run(Library.mapping, options) }
      #expect(try library.count("Book") == 100)
    }
  }
}
