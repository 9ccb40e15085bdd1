import EntityModel
import LegacyImport
import TestSupport
import Testing

@Suite struct PresetTests {
  private static let newsboat = """
    CREATE TABLE rss_feed (rssurl VARCHAR(1024) PRIMARY KEY NOT NULL, url VARCHAR(1024) NOT NULL,
      title VARCHAR(1024) NOT NULL, lastmodified INTEGER(11) NOT NULL DEFAULT 0,
      is_rtl INTEGER(1) NOT NULL DEFAULT 0, etag VARCHAR(128) NOT NULL DEFAULT "");
    CREATE TABLE rss_item (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid VARCHAR(64) NOT NULL,
      title VARCHAR(1024) NOT NULL, author VARCHAR(1024) NOT NULL, url VARCHAR(1024) NOT NULL,
      feedurl VARCHAR(1024) NOT NULL, pubDate INTEGER NOT NULL, content VARCHAR(65535) NOT NULL,
      unread INTEGER(1) NOT NULL, deleted INTEGER(1) NOT NULL DEFAULT 0, mood TEXT);
    CREATE TABLE metadata (db_schema_version_major INTEGER NOT NULL);
    INSERT INTO rss_feed VALUES ('http://a', 'http://b', 'A', 0, 0, '');
    INSERT INTO rss_item VALUES (1, 'g', 't', 'x', 'http://c', 'http://a', 3965165156, '', 1, 0, 'y');
    """

  @Test func newsboatGetsTheNamesThatItsColumnsMean() throws {
    try MadeDatabase.with(Self.newsboat) { database in
      let suggestion = try PlainInspection.suggestedImport(of: database, name: "newsboat")
      try requireConsistent(suggestion, database)
      let mapping = suggestion.mapping
      #expect(mapping.entities.map(\.entity) == ["Feed", "Item"])
      #expect(mapping.skippedTables == ["metadata"])
      let item = try #require(mapping.entities.last)
      #expect(
        item.attributes.map(\.attribute) == [
          "id", "guid", "title", "author", "link", "publishedAt", "content", "isUnread",
          "isDeleted",
          "mood",
        ])
      let date = try #require(item.attributes.first { $0.attribute == "publishedAt" })
      #expect(
        date.conversion == Conversion(nullValues: ["0"], date: .wrappedUnixSeconds)
          && date.unconfirmed == nil)
      #expect(item.relationships.map(\.relationship) == ["feed"])
      #expect(mapping.entities[0].match == ["url"])
      #expect(mapping.evidence.contains("the tables are those of newsboat"))
    }
  }

  @Test func aPresetIsIgnoredWhereValuesContradictIt() throws {
    try MadeDatabase.with(Self.newsboat + "UPDATE rss_item SET unread = 2;") { database in
      let suggestion = try PlainInspection.suggestedImport(of: database, name: "newsboat")
      try requireConsistent(suggestion, database)
      let unread = try #require(
        suggestion.mapping.entities.last?.attributes.first { $0.attribute == "isUnread" })
      #expect(unread.type == .int64)
      #expect(unread.evidence.last == "newsboat has bool here, which 2 is not: bad_bool")
    }
  }
}
