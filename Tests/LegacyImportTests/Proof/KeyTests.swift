import EntityModel
import EntityStore
import LegacyImport
import TestSupport
import Testing

/// The keys that distinguish the rows of a file.
struct KeyTests {
  private static let steps = """
    - createEntity:
        name: Thing
        attributes:
          - { name: name, type: string, optional: true, owner: local }
          - { name: code, type: string, optional: true, owner: local }
    - createEntity:
        name: Part
        attributes: [{ name: name, type: string, optional: true, owner: local }]
    - createIndex: { on: Thing, name: byCode, keys: [code], unique: true, sparse: true }
    - createRelationship: { on: Part, name: thing, to: Thing, inverse: { name: parts, many: true } }
    """

  private static func mapping(key: String, reference: String) -> String {
    """
    entities:
      - entity: Thing
        table: thing
        key: [\(key)]
        attributes: { name: name }
      - entity: Part
        table: part
        key: [id]
        attributes: { name: name }
        relationships: { thing: { columns: [\(reference)], table: thing } }
    """
  }

  private static let shapes: [(key: String, reference: String, schema: String, values: [String])] =
    [
      ("k", "t", "thing (k TEXT PRIMARY KEY, name)", ["'a'", "'b'"]),
      ("k", "t", "thing (k TEXT PRIMARY KEY, name) WITHOUT ROWID", ["'ü'", "''"]),
      ("k", "t", "thing (k BLOB PRIMARY KEY, name)", ["x'00'", "x''"]),
      ("k", "t", "thing (k, name)", ["1.5", "'1.5'"]),
      ("k, l", "t, u", "thing (k, l, name, PRIMARY KEY (k, l))", ["1, 2", "2, 1"]),
      (
        "l, k", "u, t", "thing (k, l, name, PRIMARY KEY (k, l)) WITHOUT ROWID",
        ["'a', 1", "1, 'a'"]
      ),
      ("rowid", "t", "thing (name)", ["1", "2"]),
    ]

  @Test(arguments: 0..<7) func rowsAreFoundAgainByKeysOfEveryShape(number: Int) async throws {
    let shape = Self.shapes[number]
    let columns = shape.key == "rowid" ? "rowid" : shape.values[0].contains(",") ? "k, l" : "k"
    let references = shape.values[0].contains(",") ? "t, u" : "t"
    try await withMadeImport(
      steps: Self.steps, mapping: Self.mapping(key: shape.key, reference: shape.reference),
      """
      CREATE TABLE \(shape.schema);
      CREATE TABLE part (id INTEGER PRIMARY KEY, name, \(references));
      INSERT INTO thing (\(columns), name) VALUES (\(shape.values[0]), 'one'),
        (\(shape.values[1]), 'two');
      INSERT INTO part (name, \(references)) VALUES ('p', \(shape.values[1])),
        ('q', \(shape.values[0])), ('r', \(shape.values[0])), ('s', \(references.replacing("t", with: "NULL").replacing("u", with: "NULL")));
      """
    ) { made in
      let report = try made.planAndRun()
      #expect(report.rejected == 0)
      #expect(try made.links("Part", "thing") == ["p: two", "q: one", "r: one"])
      try made.change("UPDATE thing SET name = 'three' WHERE name = 'two'")
      let second = try made.planAndRun()
      #expect(second.entities[0].written.changed == 1 && second.entities[0].written.new == 0)
      #expect(try made.links("Part", "thing") == ["p: three", "q: one", "r: one"])
    }
  }

  @Test func theFirstOfRowsWithOneKeyIsTakenInEveryRun() async throws {
    try await withMadeImport(
      steps: Self.steps, mapping: Self.mapping(key: "k", reference: "t"),
      """
      CREATE TABLE thing (k, name); CREATE TABLE part (id INTEGER PRIMARY KEY, name, t);
      INSERT INTO thing VALUES ('a', 'first'), ('b', 'other'), ('a', 'second'), (NULL, 'none'),
        (NULL, 'none'), ('a', 'third');
      INSERT INTO part (name, t) VALUES ('p', 'a');
      """
    ) { made in
      for run in 1...3 {
        let report = try made.planAndRun()
        #expect(report.run == run)
        #expect(report.rejects == ["duplicate_key": 2, "null_key": 2])
        #expect(try made.values("Thing", "name") == ["first", "other"])
        #expect(try made.links("Part", "thing") == ["p: first"])
      }
    }
  }

  @Test func aRowThatTheFilterLeavesOutTakesNoKey() async throws {
    let mapping = Self.mapping(key: "k", reference: "t").replacing(
      "key: [k]", with: "key: [k]\n    unless: { gone: [1] }")
    try await withMadeImport(
      steps: Self.steps, mapping: mapping,
      """
      CREATE TABLE thing (k, name, gone); CREATE TABLE part (id INTEGER PRIMARY KEY, name, t);
      INSERT INTO thing VALUES ('a', 'gone', 1), ('a', 'here', 0), ('b', 'null', NULL);
      INSERT INTO part (name, t) VALUES ('p', 'a');
      """
    ) { made in
      let report = try made.planAndRun()
      #expect(report.rejected == 0 && report.tables[0].skipped == 1)
      #expect(try made.values("Thing", "name") == ["here", "null"])
      #expect(try made.links("Part", "thing") == ["p: here"])
    }
  }

  @Test func aKeyMayBeLongerThanWhatIsShownOfIt() async throws {
    try await withMadeImport(
      steps: Self.steps, mapping: Self.mapping(key: "k", reference: "t"),
      """
      CREATE TABLE thing (k TEXT PRIMARY KEY, name);
      CREATE TABLE part (id INTEGER PRIMARY KEY, name, t);
      INSERT INTO thing VALUES (printf('%.*c', 3000000, 'x'), 'x'),
        (printf('%.*c', 3000001, 'x'), 'xx');
      INSERT INTO part (name, t) SELECT 'of ' || name, k FROM thing;
      """
    ) { made in
      let report = try made.planAndRun()
      #expect(report.rejected == 0)
      #expect(try made.links("Part", "thing") == ["of x: x", "of xx: xx"])
    }
  }

  // MARK: What is there already

  private static let unique = """
    entities:
      - entity: Thing
        table: thing
        key: [k]
        attributes: { name: name, code: code }
    """

  @Test func aPlanConsidersTheRecordsOfTheStore() async throws {
    try await withMadeImport(
      steps: Self.steps, mapping: Self.unique,
      """
      CREATE TABLE thing (k INTEGER PRIMARY KEY, name, code);
      INSERT INTO thing VALUES (1, 'a', 'A'), (2, 'b', 'B'), (3, 'c', 'C'), (4, 'd', 'A'),
        (5, 'e', NULL), (6, 'f', NULL);
      """
    ) { made in
      try await made.store.write { _ = try $0.insert("Thing", ["name": "mine", "code": "B"]) }
      let first = try made.planAndRun()
      #expect(first.rejects == ["not_unique": 2])
      #expect(try made.values("Thing", "name") == ["mine", "a", "c", "e", "f"])
      // Two of them change places, one takes what is another's, and one what has become free.
      try made.change(
        """
        UPDATE thing SET code = 'X' WHERE k = 1; UPDATE thing SET code = 'C' WHERE k = 5;
        UPDATE thing SET code = 'A' WHERE k = 6; DELETE FROM thing WHERE k = 4;
        """)
      let second = try made.planAndRun()
      #expect(second.rejects == ["not_unique": 2])
      #expect(try made.values("Thing", "code") == ["B", "X", "C", "null", "A"])
    }
  }

  @Test func aRecordIsMatchedWithOneRowOnly() async throws {
    try await withMadeImport(
      steps: Self.steps,
      mapping: Self.unique.replacing("key: [k]", with: "key: [k]\n    match: [code]"),
      """
      CREATE TABLE thing (k INTEGER PRIMARY KEY, name, code);
      INSERT INTO thing VALUES (1, 'a', 'A'), (2, 'b', 'A'), (3, 'c', NULL), (4, 'd', NULL);
      """
    ) { made in
      try await made.store.write { _ = try $0.insert("Thing", ["name": "mine", "code": "A"]) }
      let report = try made.planAndRun()
      #expect(report.rejects == ["not_unique": 1])
      #expect(try made.values("Thing", "name") == ["a", "c", "d"])
      try made.change("INSERT INTO thing VALUES (0, 'z', 'A')")
      #expect(try made.planAndRun().rejects == ["not_unique": 2])
    }
  }
}
