import EntityModel
import EntityStore
import LegacyImport
import Migrations
import StrictYAML
import TestSupport
import Testing

@Suite struct PlainInspectionTests {
  private static func suggestion(_ sql: String) throws -> SuggestedImport {
    try MadeDatabase.with(sql) { database in
      let suggestion = try PlainInspection.suggestedImport(of: database, name: "made")
      try requireConsistent(suggestion, database)
      return suggestion
    }
  }

  @Test func everyTableBecomesAnEntityWithItsColumns() throws {
    let suggestion = try Self.suggestion(
      """
      CREATE TABLE rss_feed (id INTEGER PRIMARY KEY, title TEXT NOT NULL, added INTEGER);
      INSERT INTO rss_feed VALUES (1, 'a', 1700000000), (2, 'b', NULL);
      CREATE VIEW shown AS SELECT * FROM rss_feed;
      """)
    let entity = try #require(suggestion.mapping.entities.first)
    #expect(entity.entity == "RssFeed" && entity.table == "rss_feed" && entity.key == ["id"])
    #expect(entity.attributes.map(\.attribute) == ["id", "title", "added"])
    #expect(entity.attributes.map(\.type) == [.int64, .string, .date])
    #expect(entity.evidence == ["2 rows"])
    #expect(
      entity.attributes.last?.evidence == [
        "INTEGER: 1 integer (1700000000 to 1700000000), 1 null",
        "1 of 1 numbers are dates of our years in unixSeconds",
        "from 2023-11-14T22:13:20Z to 2023-11-14T22:13:20Z",
      ])
    #expect(suggestion.mapping.evidence == ["2 rows in 1 table; views, which are not read: 1"])
    #expect(
      suggestion.migrationText == """
        line: made
        summary: What made is imported to
        steps:
          - createEntity:
              name: RssFeed
              attributes:
                - { name: id, type: int64, owner: local }
                - { name: title, type: string, owner: local }
                - { name: added, type: date, optional: true, owner: local }
          - createIndex: { on: RssFeed, name: byAdded, keys: [added] }

        """)
  }

  @Test func aForeignKeyBecomesARelationship() throws {
    let suggestion = try Self.suggestion(
      """
      CREATE TABLE feed (id INTEGER PRIMARY KEY, title TEXT);
      CREATE TABLE item (id INTEGER PRIMARY KEY, feed_id INTEGER REFERENCES feed(id));
      INSERT INTO feed VALUES (1, 'a'), (2, 'b');
      INSERT INTO item VALUES (1, 1), (2, 2), (3, NULL);
      """)
    let item = try #require(suggestion.mapping.entities.last)
    #expect(item.attributes.map(\.attribute) == ["id"])
    let relationship = try #require(item.relationships.first)
    #expect(relationship.relationship == "feed" && relationship.table == "feed")
    #expect(relationship.source == .columns(["feed_id"]))
    #expect(
      relationship.evidence == [
        "declared as a foreign key", "2 of 2 different values lead to a row",
      ])
    #expect(relationship.orphan == .reject && relationship.unconfirmed == nil)
    guard case .createRelationship(let definition)? = suggestion.steps.last else {
      Issue.record("no relationship is made")
      return
    }
    #expect(definition.side.name == "feed" && definition.inverse?.name == "items")
  }

  /// `user` is the whole name of a table, and the end of the name of another one.
  private static let users = """
    CREATE TABLE blocked_user (id INTEGER PRIMARY KEY, reason TEXT);
    CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE post (id INTEGER PRIMARY KEY, user_id INTEGER, title TEXT);
    INSERT INTO blocked_user VALUES (1, 'spam'), (2, 'abuse'), (3, 'bot');
    INSERT INTO user VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Cem');
    INSERT INTO post VALUES (1, 3, 'x'), (2, 1, 'y'), (3, 2, 'z');
    """

  @Test func aTableOfTheWholeNameIsPreferredAndTheOthersAreNamed() throws {
    let suggestion = try Self.suggestion(Self.users)
    let post = try #require(suggestion.mapping.entities.first { $0.table == "post" })
    let relationship = try #require(post.relationships.first)
    #expect(relationship.relationship == "user" && relationship.table == "user")
    #expect(
      relationship.unconfirmed
        == "guessed from names and values: user by its whole name, 3 of 3 different values lead "
        + "to a row; blocked_user by the end of its name, 3 of 3 different values lead to a row; "
        + "none keeps only the column")
    #expect(post.attributes.map(\.attribute) == ["id", "userId", "title"])
  }

  @Test func aTableWhoseRowsTheValuesAreIsPreferredToOneOfTheName() throws {
    let suggestion = try Self.suggestion(
      Self.users + "UPDATE post SET user_id = user_id + 10;"
        + "UPDATE blocked_user SET id = id + 10;")
    let post = try #require(suggestion.mapping.entities.first { $0.table == "post" })
    let relationship = try #require(post.relationships.first)
    #expect(relationship.table == "blocked_user")
    #expect(
      try #require(relationship.unconfirmed).contains(
        "; user by its whole name, 0 of 3 different values lead to a row; "))
  }

  @Test func aGuessedReferenceKeepsItsColumnUnderAnotherName() throws {
    let suggestion = try Self.suggestion(
      """
      CREATE TABLE node (id INTEGER PRIMARY KEY, parent INTEGER);
      INSERT INTO node VALUES (1, NULL), (2, 1), (3, 1);
      """)
    let node = try #require(suggestion.mapping.entities.first)
    #expect(node.relationships.map(\.relationship) == ["parent"])
    #expect(node.attributes.map(\.attribute) == ["id", "parentKey"])
    #expect(node.attributes.last?.source == .column("parent"))
  }

  @Test func aReferenceIsInferredFromItsNameAndItsValues() throws {
    let suggestion = try Self.suggestion(
      """
      CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT);
      CREATE TABLE visits (id INTEGER PRIMARY KEY, place_id INTEGER, parent INTEGER);
      INSERT INTO moz_places VALUES (1, 'a'), (2, 'b');
      INSERT INTO visits VALUES (1, 1, 0), (2, 2, 1), (3, 1, 1);
      """)
    let visits = try #require(suggestion.mapping.entities.last)
    #expect(visits.relationships.map(\.relationship) == ["place", "parent"])
    #expect(visits.relationships.map(\.table) == ["moz_places", "visits"])
    #expect(visits.relationships.map(\.orphan) == [.reject, .drop])
    #expect(visits.relationships.allSatisfy { $0.unconfirmed != nil })
    #expect(
      visits.relationships.last?.evidence.last
        == "by its name, and 1 of 1 different values lead to a row; 0 stands for none")
  }

  @Test func smallIntegersAloneAreNoReference() throws {
    let suggestion = try Self.suggestion(
      """
      CREATE TABLE feed (id INTEGER PRIMARY KEY, title TEXT);
      CREATE TABLE item (id INTEGER PRIMARY KEY, rating INTEGER, feed_count INTEGER, feed_id INTEGER);
      INSERT INTO feed VALUES (1, 'a'), (2, 'b'), (3, 'c');
      INSERT INTO item VALUES (1, 1, 1, 7), (2, 2, 2, 8), (3, 3, 3, 1);
      """)
    #expect(suggestion.mapping.entities.allSatisfy { $0.relationships.isEmpty })
  }

  @Test func aNumberIsNoKeyOfTexts() throws {
    let suggestion = try Self.suggestion(
      """
      CREATE TABLE node (id TEXT PRIMARY KEY, title TEXT);
      CREATE TABLE item (id INTEGER PRIMARY KEY, node_id INTEGER);
      INSERT INTO node VALUES ('1', 'a'), ('2', 'b');
      INSERT INTO item VALUES (1, 1), (2, 2);
      """)
    #expect(suggestion.mapping.entities.allSatisfy { $0.relationships.isEmpty })
  }

  @Test func aTextKeyIsMatchedByAUniqueIndex() throws {
    let suggestion = try Self.suggestion(
      "CREATE TABLE info (name TEXT NOT NULL PRIMARY KEY, value); INSERT INTO info VALUES ('a', 1);"
    )
    #expect(suggestion.mapping.entities[0].match == ["name"])
    #expect(
      suggestion.steps.last
        == .createIndex(
          entity: "Info",
          IndexDefinition(name: "byName", keys: [.init(attribute: "name")], isUnique: true)))
  }

  @Test func nullInAPrimaryKeyIsCounted() throws {
    let suggestion = try Self.suggestion(
      "CREATE TABLE t (k TEXT PRIMARY KEY); INSERT INTO t VALUES (NULL), (NULL), ('a');")
    #expect(
      suggestion.warnings == [#""t": 2 rows have no "k", which is of the key; they become rejects"#]
    )
    #expect(
      suggestion.steps.last
        == .createIndex(
          entity: "T",
          IndexDefinition(
            name: "byK", keys: [.init(attribute: "k")], isUnique: true, isSparse: true)))
  }

  @Test func aTableWithoutAKeyHasItsRowID() throws {
    let suggestion = try Self.suggestion(
      """
      CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1);
      CREATE TABLE b (x INTEGER, y TEXT); CREATE UNIQUE INDEX u ON b (y);
      INSERT INTO b VALUES (1, 'a');
      CREATE TABLE c (y TEXT UNIQUE); INSERT INTO c VALUES (NULL);
      """)
    #expect(suggestion.mapping.entities.map(\.key) == [["rowid"], ["y"], ["rowid"]])
    #expect(suggestion.warnings.count == 2)
    #expect(
      try #require(suggestion.warnings.first).hasPrefix(
        #"the key of A is the rowid of "a", which changes"#))
  }

  @Test func namesThatClashOrSayNothingGetNumbers() throws {
    let suggestion = try Self.suggestion(
      """
      CREATE TABLE "a b" (id INTEGER PRIMARY KEY, "a b" INT, "a-b" INT, "漢" INT, "4" INT);
      CREATE TABLE "a_b" (id INTEGER PRIMARY KEY); CREATE TABLE "漢" (id INTEGER PRIMARY KEY);
      """)
    #expect(suggestion.mapping.entities.map(\.entity) == ["AB", "AB2", "Table"])
    #expect(
      suggestion.mapping.entities[0].attributes.map(\.attribute)
        == ["id", "aB", "aB2", "column", "column4"])
  }

  @Test func excessColumnsAreSkippedAndReported() throws {
    let columns = (1...600).map { "c\($0) INT" }.joined(separator: ", ")
    let suggestion = try Self.suggestion("CREATE TABLE wide (id INTEGER PRIMARY KEY, \(columns))")
    #expect(suggestion.mapping.entities[0].attributes.count == 400)
    #expect(suggestion.mapping.skippedColumns["wide"]?.count == 201)
    #expect(
      try #require(suggestion.warnings.first).hasPrefix(
        #"the table "wide" has 601 columns; those after"#))
  }

  @Test func namesThatOnlyDifferInBytesAreSkippedAndReported() throws {
    let suggestion = try Self.suggestion(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, \"\u{E9}\" INT, \"e\u{301}\" INT)")
    #expect(suggestion.mapping.skippedTables == ["t"])
    #expect(suggestion.warnings.count == 1)
  }

  @Test func theFirstRowsAndSamplesOfALongTableAreInspected() throws {
    let suggestion = try Self.suggestion(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, x);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 270000)
      INSERT INTO t SELECT i, iif(i > 268000, 'late', i) FROM n;
      """)
    let entity = suggestion.mapping.entities[0]
    #expect(entity.evidence[0].hasPrefix("270000 rows, of which 2"))
    #expect(entity.attributes[1].type == .string)
  }
}

/// Requires of a suggestion that its migration applies, that its mapping fits the source and the
/// schema, and that its file is parsed back unchanged.
func requireConsistent(_ suggestion: SuggestedImport, _ database: SourceDatabase) throws {
  let text = suggestion.migrationText
  let schema = try MappedSchema.schema(text, line: suggestion.mapping.name)
  let problems = MappingCheck(of: suggestion.mapping, against: database.tables).problems
  #expect(problems == [])
  let file = MappingFile.text(of: suggestion.mapping)
  let read = try MappingFile.read(Array(file.utf8), file: "map.yaml", schema: schema)
  #expect(read == suggestion.mapping.withoutEvidence)
  #expect(suggestion.warnings.allSatisfy { !$0.contains("\n") })
}
