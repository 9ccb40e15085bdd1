import EntityModel
import EntityStore
import Foundation
import TestSupport
import Testing

@testable import EntityObjects
@testable import LegacyImport

/// Suggestions for Core Data files that the tests write.
@Suite struct CoreDataSuggestionTests {
  @Test func theModelBecomesEntitiesWithItsNamesAndTypes() throws {
    let suggestion = try suggestion(of: Podcasts.sql())
    #expect(
      try SuggestionText.entities(of: suggestion) == [
        "Feed: artwork data?, feedURL url, lastFetched date?, title string; "
          + "items ->> Item ordered cascade, tags ->> Tag",
        "Item: kind enum, internalScore double?, age int64?, guid string, identifier uuid, isRead bool, "
          + "publishedAt date?, title string, summary string?, wordCount int64?, chapters data?, "
          + "duration double?, price decimal?; feed -> Feed, playlists ->> Playlist; unique guid",
        "Person: name string; friends ->> Person",
        "Playlist: name string; episodes ->> Item ordered", "Tag: label string",
      ])
    #expect(suggestion.mapping.evidence.contains("43 of 43 columns explained by the model"))
    #expect(
      suggestion.mapping.evidence.contains(
        "Core Data store \(Podcasts.uuid), framework 1345, model version 7"))
    #expect(
      suggestion.warnings == [
        "Article, Episode become one entity, because Feed.items leads to several of them",
        "Core Data derives Item.age (ZITEM.ZAGE): the values of the file are imported, and the "
          + "store does not update them; to leave them out, list the column under skip",
        "external files that are missing beside the source: 1; copy the folder, too, or the "
          + "records are imported without these values",
      ])
  }

  @Test func eachEntityReadsTheColumnsOfItsOwn() throws {
    let mapping = try suggestion(of: Podcasts.sql()).mapping
    #expect(
      mapping.entities.map(\.entity) == ["Feed", "Item", "Item", "Person", "Playlist", "Tag"])
    let (feed, article, episode) = (mapping.entities[0], mapping.entities[1], mapping.entities[2])
    #expect(article.filter == RowFilter(isOneOf: ["Z_ENT": ["3"]]))
    #expect(article.key == ["Z_PK"])
    #expect(article.attribute("kind")?.source == .constant(.string("Article")))
    #expect(article.attribute("summary")?.source == .column("ZSUMMARY"))
    #expect(episode.attribute("summary")?.source == .column("ZSUMMARY1"))
    #expect(article.attribute("price") == nil && episode.attribute("wordCount") == nil)
    #expect(feed.attribute("artwork")?.content == .external)
    #expect(feed.attribute("lastFetched")?.conversion == Conversion(date: .coreDataSeconds))
    #expect(
      feed.attribute("lastFetched")?.evidence == [
        "model: lastFetched: Date, optional; 1 null, 1 integer, 1 real",
        "from 2023-03-08T20:26:40Z to 2023-03-08T20:26:40.5Z",
      ])
    #expect(
      episode.attribute("chapters")?.evidence.last?.contains("archives of NSArray, NSString")
        == true)
    #expect(
      mapping.skippedTables == ["ATRANSACTION", "Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY"])
    #expect(mapping.skippedColumns["ZITEM"] == ["Z_OPT"])
    #expect(mapping.skippedColumns["Z_4PLAYLISTS"] == nil)
  }

  @Test func linksAreReadFromWhereTheirOrderIs() throws {
    let mapping = try suggestion(of: Podcasts.sql()).mapping
    func sources(_ entity: String) -> [String: RelationshipMapping.Source] {
      let found = mapping.entities.filter { $0.entity == entity }.flatMap(\.relationships)
      return Dictionary(
        found.map { ($0.relationship, $0.source) }, uniquingKeysWith: { first, _ in first })
    }
    #expect(
      sources("Feed") == [
        "items": .join(table: "ZITEM", owner: ["ZFEED"], target: ["Z_PK"], order: "Z_FOK_FEED"),
        "tags": .join(table: "ZTAG", owner: ["Z1TAGS"], target: ["Z_PK"], order: nil),
      ])
    #expect(sources("Item").isEmpty)
    #expect(
      sources("Playlist") == [
        "episodes": .join(
          table: "Z_4PLAYLISTS", owner: ["Z_6PLAYLISTS"], target: ["Z_4EPISODES"],
          order: "Z_FOK_4EPISODES")
      ])
    #expect(
      sources("Person") == [
        "friends": .join(
          table: "Z_5FRIENDS", owner: ["REFLEXIVE"], target: ["Z_5FRIENDS"], order: nil)
      ])
  }

  @Test func aHierarchyThatNothingLeadsIntoStaysSeparateUnlessAskedOtherwise() throws {
    let separate = try suggestion(of: Self.writers())
    #expect(
      try SuggestionText.entities(of: separate) == [
        "Author: age int64, name string; unique name",
        "Poet: age int64, name string, verse string?",
      ])
    let merged = try suggestion(of: Self.writers(), .merged)
    #expect(
      try SuggestionText.entities(of: merged) == [
        "Writer: kind enum, age int64, name string, verse string?"
      ])
    #expect(
      merged.warnings == [
        "the unique constraint name of Author is left out: it does not hold for Poet"
      ])
  }

  @Test func requiredValuesThatAreNotThereMakeTheAttributeOptional() throws {
    let suggestion = try suggestion(
      of: Podcasts.sql("UPDATE ZFEED SET ZTITLE = NULL WHERE Z_PK = 2;"))
    #expect(try SuggestionText.entities(of: suggestion)[0].contains("title string?"))
    #expect(
      suggestion.mapping.entities[0].attribute("title")?.evidence.last
        == "required by the model, but 1 of 3 rows have none: optional")
  }

  @Test func rowsOfNoEntityAreReported() throws {
    let warnings = try suggestion(
      of: Podcasts.sql(
        """
        UPDATE ZFEED SET Z_ENT = NULL WHERE Z_PK = 1; UPDATE ZFEED SET Z_ENT = 99 WHERE Z_PK = 2;
        UPDATE ZITEM SET Z_ENT = 2 WHERE Z_PK = 1;
        UPDATE ZITEM SET ZSUMMARY1 = 'old' WHERE Z_PK = 2;
        CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY, ZNEEDSLOCALDELETE INTEGER);
        INSERT INTO ANSCKRECORDMETADATA VALUES (1, 1), (2, 0), (3, NULL);
        CREATE TABLE OTHER (a); ALTER TABLE ZTAG ADD COLUMN ZCOLOR;
        """)
    ).warnings
    for expected in [
      "rows of ZFEED that no entity takes, for Z_ENT is null: 1",
      "rows of ZFEED of an entity that is not known: 1",
      "rows of ZITEM of Item, which is abstract: 1",
      "leftover values in ZITEM.ZSUMMARY1 of rows that are no Episode, which are not taken: 1",
      "objects that were deleted in the cloud and are still in the file: 1 (ANSCKRECORDMETADATA)",
      "the table OTHER is skipped: no entity of the model is in it",
      "skipped because the model does not explain it: ZTAG.ZCOLOR",
    ] {
      #expect(warnings.contains(expected), "\(expected) is not in \(warnings)")
    }
  }

  @Test func aModelOfAnotherVersionIsReported() throws {
    let metadata = PropertyListWriter.bytes(
      of: .dictionary(["NSStoreModelVersionHashes": .dictionary(["Feed": .data(Data([1]))])]))
    let cases = [
      (
        Podcasts.hex(metadata),
        "the model in the file is not of the version that its metadata names"
      ),
      ("x'00'", "the metadata of the file cannot be read: it is no binary property list"),
    ]
    for (value, warning) in cases {
      let sql = try Podcasts.sql("UPDATE Z_METADATA SET Z_PLIST = \(value);")
      #expect(try suggestion(of: sql).warnings.first == warning)
    }
  }

  @Test func theFirstRowsOfALargeTableAreInspected() throws {
    let suggestion = try suggestion(
      of: Podcasts.sql(
        """
        WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 100001)
        INSERT INTO ZTAG SELECT i, 7, 1, 'tag', NULL FROM n;
        """))
    let tag = try #require(suggestion.mapping.entities.last)
    #expect(tag.evidence == ["model: Tag; 100000 rows among the first 100000 of the table"])
    #expect(
      tag.attributes[0].evidence.last
        == "required by the model, but not all rows were looked at: optional")
  }

  // MARK: Without a model

  @Test(arguments: [
    "DELETE FROM Z_MODELCACHE;", "DROP TABLE Z_MODELCACHE;",
    "UPDATE Z_MODELCACHE SET Z_CONTENT = NULL;",
    "UPDATE Z_MODELCACHE SET Z_CONTENT = x'FFFF01';", "UPDATE Z_MODELCACHE SET Z_CONTENT = 'text';",
  ])
  func withoutAModelTypesAreGuessedFromTheColumns(change: String) throws {
    let suggestion = try suggestion(
      of: Podcasts.sql(change + "UPDATE Z_METADATA SET Z_PLIST = NULL;"))
    #expect(
      try SuggestionText.entities(of: suggestion) == [
        "Feed: artwork data?, feedurl string?, lastfetched date?, title string?; "
          + "items_feed ->> Item ordered, tags ->> Tag",
        "Item: kind enum, internalscore double?, age int64?, duration double?, guid string?, "
          + "identifier data?, isread int64?, publishedat date?, title string?, summary string?, "
          + "wordcount int64?, chapters data?, price decimal?, summary1 string?; "
          + "feed -> Feed, playlists ->> Playlist",
        "Person: name string?; friends ->> Person",
        "Playlist: name string?; episodes ->> Item ordered", "Tag: label string?",
      ])
    let doubts = suggestion.mapping.entities.flatMap(\.relationships).compactMap(\.unconfirmed)
    #expect(doubts.count == 3, "\(doubts)")
    let artwork = suggestion.mapping.entities[0].attribute("artwork")
    #expect(artwork?.content == .external && artwork?.unconfirmed != nil)
    #expect(suggestion.warnings.contains { $0.contains("model") && $0.contains("guessed") })
  }

  @Test func anotherFileIsNoCoreDataFile() throws {
    let error = #expect(throws: ImportError.self) {
      try suggestion(of: "CREATE TABLE a (b);")
    }
    #expect(error?.description.contains("import it as plain SQLite") == true)
  }

  // MARK: Names

  @Test func namesThatAMigrationDoesNotAllowAreChangedAndStayDifferent() {
    var names = UniqueNames()
    let wanted = ["_score", "score", "größe", "gr_sse", "日本", "1a", "kind", "kind"]
    let claimed = wanted.map { names.claim($0, fallback: nil, otherwise: "attribute") }
    #expect(
      claimed == ["score", "score2", "gr__e", "gr_sse", "attribute", "a", "kind", "kind2"])
    let long = String(repeating: "x", count: 80)
    #expect(names.claim(long, otherwise: "a").count == 63)
    let second = names.claim(long, otherwise: "a")
    #expect(second.count == 63 && second.hasSuffix("2"))
  }

  // MARK: Files

  private static func writers() throws -> String {
    func attribute(
      _ name: String, _ type: ManagedObjectModel.AttributeKind
    ) -> ManagedObjectModel.Attribute {
      .init(name: name, type: type, isOptional: false)
    }
    let model = try ManagedObjectModel(entities: [
      .init(
        name: "Writer", isAbstract: true,
        attributes: [attribute("age", .int16), attribute("name", .string)]),
      .init(name: "Author", superentity: "Writer", uniqueConstraints: [["name"]]),
      .init(
        name: "Poet", superentity: "Writer", attributes: [Podcasts.attribute("verse", .string)]),
    ])
    return """
      CREATE TABLE ZWRITER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAGE INTEGER,
        ZNAME VARCHAR, ZVERSE VARCHAR);
      INSERT INTO ZWRITER VALUES (1, 2, 1, 40, 'Ann', NULL), (2, 3, 1, 50, 'Bob', 'verse');
      CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER,
        Z_MAX INTEGER);
      INSERT INTO Z_PRIMARYKEY VALUES (1, 'Writer', 0, 2), (2, 'Author', 1, 0), (3, 'Poet', 1, 0);
      CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
      INSERT INTO Z_METADATA VALUES (1, 'uuid', \(Podcasts.hex(PropertyListWriter.bytes(of: .dictionary([:])))));
      CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
      INSERT INTO Z_MODELCACHE VALUES (\(Podcasts.hex(ModelWriter.bytes(of: model))));
      """
  }

  private func suggestion(
    of sql: String, _ inheritance: ImportInheritance = .separate
  ) throws -> SuggestedImport {
    try MadeDatabase.with(sql) { database in
      let suggestion = try CoreDataSuggestion.suggestedImport(
        of: database, named: "podcasts", inheritance: inheritance)
      try SuggestionText.check(suggestion, database.tables)
      return suggestion
    }
  }
}

extension EntityMapping {
  fileprivate func attribute(_ name: String) -> AttributeMapping? {
    attributes.first { $0.attribute == name }
  }
}
