import EntityModel
import EntityStore
import Foundation

@testable import EntityObjects
@testable import LegacyImport

/// A generated Core Data file of a podcast program: inheritance, equal names in two branches, an
/// ordered, a one-sided, a reflexive and a many-to-many relationship.
enum Podcasts {
  static let uuid = "00000000-0000-4000-8000-00000000C0DE"

  static func model() throws -> ManagedObjectModel {
    var items = many("items", to: "Item", inverse: "feed", isOrdered: true)
    items.deleteRule = .cascade
    var artwork = attribute("artwork", .binary)
    artwork.isExternal = true
    var isRead = required("isRead", .bool)
    isRead.defaultValue = .bool(false)
    var badge = attribute("badge", .string)
    badge.isTransient = true
    var age = attribute("age", .int64)
    age.isDerived = true
    var feed = ManagedObjectModel.Relationship(name: "feed", destination: "Feed", inverse: "items")
    feed.isOptional = false
    return try ManagedObjectModel(entities: [
      .init(
        name: "Feed",
        attributes: [
          artwork, badge, required("feedURL", .uri), attribute("lastFetched", .date),
          required("title", .string),
        ], relationships: [items, many("tags", to: "Tag")]),
      .init(
        name: "Item", isAbstract: true,
        attributes: [
          attribute("_internalScore", .double), age, required("guid", .string),
          required("identifier", .uuid), isRead, attribute("publishedAt", .date),
          required("title", .string),
        ], relationships: [feed], uniqueConstraints: [["guid"]]),
      .init(
        name: "Article", superentity: "Item",
        attributes: [attribute("summary", .string), attribute("wordCount", .int32)]),
      .init(
        name: "Episode", superentity: "Item",
        attributes: [
          attribute("chapters", .transformable), attribute("duration", .double),
          attribute("price", .decimal), attribute("summary", .string),
        ], relationships: [many("playlists", to: "Playlist", inverse: "episodes")]),
      .init(
        name: "Person", attributes: [required("name", .string)],
        relationships: [many("friends", to: "Person", inverse: "friends")]),
      .init(
        name: "Playlist", attributes: [required("name", .string)],
        relationships: [many("episodes", to: "Episode", inverse: "playlists", isOrdered: true)]),
      .init(name: "Tag", attributes: [required("label", .string)]),
    ])
  }

  /// The complete file. Changes by tests are applied to it.
  static func sql(_ change: String = "") throws -> String {
    """
    CREATE TABLE ZFEED (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZARTWORK BLOB,
      ZFEEDURL VARCHAR, ZLASTFETCHED TIMESTAMP, ZTITLE VARCHAR);
    CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAGE INTEGER,
      ZFEED INTEGER, Z_FOK_FEED INTEGER, ZISREAD INTEGER, ZWORDCOUNT INTEGER,
      ZPUBLISHEDAT TIMESTAMP, Z_INTERNALSCORE FLOAT, ZDURATION FLOAT, ZPRICE DECIMAL, ZGUID VARCHAR,
      ZTITLE VARCHAR, ZSUMMARY VARCHAR, ZSUMMARY1 VARCHAR, ZIDENTIFIER BLOB, ZCHAPTERS BLOB);
    CREATE TABLE ZPERSON (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
    CREATE TABLE ZPLAYLIST (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
    CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZLABEL VARCHAR,
      Z1TAGS INTEGER);
    CREATE TABLE Z_4PLAYLISTS (Z_4EPISODES INTEGER, Z_6PLAYLISTS INTEGER, Z_FOK_4EPISODES INTEGER,
      PRIMARY KEY (Z_4EPISODES, Z_6PLAYLISTS));
    CREATE TABLE Z_5FRIENDS (Z_5FRIENDS INTEGER, REFLEXIVE INTEGER,
      PRIMARY KEY (Z_5FRIENDS, REFLEXIVE));
    CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER,
      Z_MAX INTEGER);
    CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
    CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
    CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, ZTIMESTAMP FLOAT);

    INSERT INTO ZFEED VALUES (1, 1, 1, x'0102', 'https://a.example/feed', 700000000, 'A'),
      (2, 1, 1, CAST(x'02' || '3F2504E0-4F89-41D3-9A0C-0305E82C3301' AS BLOB),
       'https://b.example/feed', 700000000.5, 'B'), (3, 1, 1, NULL, 'https://c.example/feed', NULL, 'C');
    INSERT INTO ZITEM (Z_PK, Z_ENT, ZFEED, Z_FOK_FEED, ZISREAD, ZWORDCOUNT, ZGUID, ZTITLE, ZSUMMARY,
      ZIDENTIFIER) VALUES (1, 3, 1, 2048, 0, 100, 'g1', 'One', 'of an article', zeroblob(16)),
      (2, 3, 1, 1024, 1, NULL, 'g2', 'Two', NULL, zeroblob(16));
    INSERT INTO ZITEM (Z_PK, Z_ENT, ZFEED, Z_FOK_FEED, ZISREAD, ZPRICE, ZGUID, ZTITLE, ZSUMMARY1,
      ZIDENTIFIER, ZCHAPTERS) VALUES (3, 4, 2, 1024, 0, 9.99, 'g3', 'Three', 'of an episode',
      zeroblob(16), \(hex(chapters))), (4, 4, 2, 2048, 1, 5, 'g4', 'Four', NULL, zeroblob(16), NULL);
    INSERT INTO ZPERSON VALUES (1, 5, 1, 'Ann'), (2, 5, 1, 'Bob');
    INSERT INTO ZPLAYLIST VALUES (1, 6, 1, 'Best');
    INSERT INTO ZTAG VALUES (1, 7, 1, 'swift', 1), (2, 7, 1, 'data', NULL);
    INSERT INTO Z_4PLAYLISTS VALUES (3, 1, 2048), (4, 1, 1024);
    INSERT INTO Z_5FRIENDS VALUES (1, 2), (2, 1);
    INSERT INTO Z_PRIMARYKEY VALUES (1, 'Feed', 0, 3), (2, 'Item', 0, 4), (3, 'Article', 2, 0),
      (4, 'Episode', 2, 0), (5, 'Person', 0, 2), (6, 'Playlist', 0, 1), (7, 'Tag', 0, 2),
      (16002, 'TRANSACTION', 0, 1);
    INSERT INTO Z_METADATA VALUES (1, '\(uuid)', \(hex(metadata)));
    INSERT INTO Z_MODELCACHE VALUES (\(hex(ModelWriter.bytes(of: try model()))));
    \(change)
    """
  }

  static func hex(_ bytes: [UInt8]) -> String {
    "x'" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
  }

  private static let chapters: [UInt8] = {
    var archive = ArchiveWriter()
    let texts = ["Intro", "End"].map { archive.add(.string($0)) }
    let root = archive.array(texts)
    return archive.bytes(root: root)
  }()

  private static let metadata = PropertyListWriter.bytes(
    of: .dictionary([
      "NSPersistenceFrameworkVersion": .int64(1345),
      "NSStoreModelVersionIdentifiers": .array([.string("7")]),
      "NSStoreModelVersionHashes": .dictionary(
        Dictionary(
          uniqueKeysWithValues: ["Feed", "Item", "Article", "Episode", "Person", "Playlist", "Tag"]
            .map { ($0, .data(Data($0.utf8))) })),
    ]))

  static func attribute(
    _ name: String, _ type: ManagedObjectModel.AttributeKind
  ) -> ManagedObjectModel.Attribute {
    .init(name: name, type: type)
  }

  private static func required(
    _ name: String, _ type: ManagedObjectModel.AttributeKind
  ) -> ManagedObjectModel.Attribute {
    .init(name: name, type: type, isOptional: false)
  }

  private static func many(
    _ name: String, to destination: String, inverse: String? = nil, isOrdered: Bool = false
  ) -> ManagedObjectModel.Relationship {
    .init(
      name: name, destination: destination, inverse: inverse, isToMany: true, isOrdered: isOrdered)
  }
}
