import LegacyImport
import StrictYAML
import Testing

@Suite struct MappingMistakeTests {
  @Test("Each mistake is named with its place and with what to do", arguments: mistakes)
  func mistake(text: String, message: String) throws {
    let schema = try MappedSchema.podcasts()
    do {
      _ = try MappingFile.read(Array(text.utf8), file: "m", schema: schema)
      Issue.record("read without an error: \(text)")
    } catch let error as YAMLError {
      #expect(error.description == "\(message); \(MappingFile.reference)")
    }
  }

  private static let mistakes: [(String, String)] = [
    (
      """
      []
      """,
      "m:1:1: expected a mapping, found a sequence"
    ),
    (
      """
      import: p
      """,
      "m:1:1: the key \"dialect\" is missing; add it"
    ),
    (
      """
      import: P
      dialect: plain
      entities: []
      """,
      "m:1:9: \"P\" is not a valid name of an import; use at most 64 lower-case letters, "
        + "digits, - and ., a letter first"
    ),
    (
      """
      import: system.x
      dialect: plain
      entities: []
      """,
      "m:1:9: \"system.x\" is not a valid name of an import; use at most 64 lower-case letters, "
        + "digits, - and ., a letter first"
    ),
    (
      """
      import: p
      dialect: coredata
      entities: []
      """,
      "m:2:10: unknown dialect \"coredata\"; did you mean \"coreData\"?"
    ),
    (
      """
      import: p
      dialect: sql
      entities: []
      """,
      "m:2:10: unknown dialect \"sql\"; known are coreData, plain"
    ),
    (
      """
      import: p
      dialect: plain
      rejects: 101%
      entities: []
      """,
      "m:3:10: write a share of the rows as a percentage from 0% to 100%, as 0.1%"
    ),
    (
      """
      import: p
      dialect: plain
      rejects: -1
      entities: []
      """,
      "m:3:10: the number of rejected rows is 0 or more"
    ),
    (
      """
      import: p
      dialect: plain
      rejects: many
      entities: []
      """,
      "m:3:10: expected a whole number such as 42, found \"many\""
    ),
    (
      """
      import: p
      dialect: plain
      entity: []
      """,
      "m:1:1: the key \"entities\" is missing; add it"
    ),
    (
      """
      import: p
      dialect: plain
      entities: {}
      """,
      "m:3:11: expected a sequence, found a mapping"
    ),
    (
      """
      import: p
      dialect: plain
      entities: []
      skips: {}
      """,
      "m:4:1: the key \"skips\" is unknown; did you mean \"skip\"?"
    ),
    (
      """
      import: p
      dialect: plain
      entities: []
      skip: { tables: [a, a] }
      """,
      "m:4:21: the table \"a\" occurs twice; remove one"
    ),
    (
      """
      import: p
      dialect: plain
      entities: []
      skip: { columns: { a: [] } }
      """,
      "m:4:23: name at least one column, or leave the key out"
    ),
    (
      """
      import: p
      dialect: plain
      entities: []
      skip: { table: [a] }
      """,
      "m:4:9: the key \"table\" is unknown; did you mean \"tables\"?"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Artikle
          table: T
          key: [id]
      """,
      "m:4:13: there is no entity \"Artikle\"; did you mean \"Article\"?"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Book
          table: T
          key: [id]
      """,
      "m:4:13: there is no entity \"Book\"; apply the migration that creates it first"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: _ChunkedWrite
          table: T
          key: [id]
      """,
      "m:4:13: _ChunkedWrite is a system entity; map another one"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Playlist
          key: [id]
      """,
      "m:4:5: the key \"table\" is missing; add it"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Playlist
          table: T
      """,
      "m:4:5: the key \"key\" is missing; add it"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Playlist
          table: T
          key: []
      """,
      "m:6:10: name at least one column, or leave the key out"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Playlist
          table: T
          key: [a, a]
      """,
      "m:6:14: the column \"a\" occurs twice; remove one"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Playlist
          table: T
          key: [id]
          where: {}
      """,
      "m:7:12: name at least one column, or leave the key out"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Playlist
          table: T
          key: [id]
          where: { a: [] }
      """,
      "m:7:17: name at least one value of \"a\", or remove it"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Playlist
          table: T
          key: [id]
          unless: { a: 1 }
      """,
      "m:7:18: expected a sequence, found \"1\""
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            title: T
          match: [title]
      """,
      "m:10:12: Article has no unique index on exactly these attributes; it has one on [guid]"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          match: [guid]
      """,
      "m:7:12: records are matched by guid, which is not mapped; map it"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
          match: [gid]
      """,
      "m:9:12: Article has no attribute \"gid\"; did you mean \"guid\"?"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            title: T
          match: [guid, title]
      """,
      "m:10:12: Article has no unique index on exactly these attributes; it has one on [guid]"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Playlist
          table: T
          key: [id]
          attributes: { name: N }
          match: [name]
      """,
      "m:8:12: Playlist has no unique index on exactly these attributes; it has none "
        + "at all: remove match, or add one with a migration"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
      """,
      "m:4:5: Article.guid is required and has no default; map it, or make it optional "
        + "in a migration"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            titel: T
      """,
      "m:9:14: Article has no attribute \"titel\"; did you mean \"title\"?"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            colour: T
      """,
      "m:9:15: Article has no attribute \"colour\"; add it with a migration, or skip "
        + "the column"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            feed: F
      """,
      "m:9:13: Article.feed is a relationship; map it under relationships"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            guid: H
      """,
      "m:9:7: the key \"guid\" is already there, at line 8; keep one"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            _playlists_order: F
      """,
      "m:9:25: Article has no attribute \"_playlists_order\"; add it with a migration, "
        + "or skip the column"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: null
      """,
      "m:8:13: name the column of guid, or remove it"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: []
      """,
      "m:8:13: expected a mapping, found a sequence"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: {}
      """,
      "m:8:13: the key \"column\" is missing; add it"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: { colum: G }
      """,
      "m:8:13: the key \"column\" is missing; is \"colum\" at line 8 meant?"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: { column: G, value: a }
      """,
      "m:8:13: value is used alone, because no column is read; remove the other keys"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: { value: null }
      """,
      "m:8:22: a value is not null; remove guid instead"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            kind: { value: audio }
      """,
      "m:9:22: \"audio\" is no case of the enum; its cases are article, video"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            duration: { value: 500 }
      """,
      "m:9:26: the value of duration: more than the maximum 100"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            duration: { value: a }
      """,
      "m:9:26: expected a whole number such as 42, found \"a\""
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            artwork: { column: A, external: yes }
      """,
      "m:9:39: expected true or false, found \"yes\""
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: { column: G, external: true }
      """,
      "m:8:36: external values are data; the type is string"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            artwork: { column: A, external: true, archive: [NSData] }
      """,
      "m:9:39: a column is external or holds an archive; remove one of the two"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            artwork: { column: A, keepBytes: true }
      """,
      "m:9:40: keepBytes is for archives; name their classes with archive"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            words: { column: A, archive: [NSArray], keepBytes: true }
      """,
      "m:9:58: only data holds the bytes of an archive; the type is strings"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            words: { column: A, archive: [] }
      """,
      "m:9:36: name at least one class, or leave the key out"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: { column: G, badText: latin }
      """,
      "m:8:35: unknown badText \"latin\"; did you mean \"latin1\"?"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: { column: G, badText: ignore }
      """,
      "m:8:35: unknown badText \"ignore\"; known are refuse, latin1, replace"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: { column: G, unconfirmed: "" }
      """,
      "m:8:39: write the reason, or remove the key after confirming the guess"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            publishedAt: { column: P, date: unixSecond }
      """,
      "m:9:39: unknown form of dates \"unixSecond\"; did you mean \"unixSeconds\"?"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            publishedAt: { column: P, date: unixSeconds, zone: Z }
      """,
      "m:9:58: a zone is for texts that may lack it; use date: iso8601 or rfc822"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            duration: { column: P, date: iso8601 }
      """,
      "m:9:36: iso8601 is text; the type must be date or string, and is int64"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
            duration: { column: P, scale: 0 }
      """,
      "m:9:37: a scale is a decimal number other than 0, for example 0.001"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: { column: G, round: up }
      """,
      "m:8:33: what is rounded becomes int64, double or the text of a date; the type "
        + "is string"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: { column: G, nullvalues: [0] }
      """,
      "m:8:26: the key \"nullvalues\" is unknown; did you mean \"nullValues\"?"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: { column: G, nullValues: [null] }
      """,
      "m:8:39: null is null without being told; remove it"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
          relationships:
            feed: { column: f, tabel: F }
        - entity: Feed
          table: F
          key: [id]
          attributes: { url: U }
      """,
      "m:10:13: the key \"table\" is missing; is \"tabel\" at line 10 meant?"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
          relationships:
            feed: F
        - entity: Feed
          table: F
          key: [id]
          attributes: { url: U }
      """,
      "m:10:13: expected a mapping, found \"F\""
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
          relationships:
            feed: { table: F }
        - entity: Feed
          table: F
          key: [id]
          attributes: { url: U }
      """,
      "m:10:13: name the columns that have the key of the other row with column, or columns"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
          relationships:
            feed: { column: f, columns: [f], table: F }
        - entity: Feed
          table: F
          key: [id]
          attributes: { url: U }
      """,
      "m:10:13: name the columns that have the key of the other row with column, or columns"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
          relationships:
            feed: { join: j, owner: a, target: b, table: F }
        - entity: Feed
          table: F
          key: [id]
          attributes: { url: U }
      """,
      "m:10:21: feed is to-one: its link is in the row itself; use column"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
          relationships:
            feed: { column: f, table: G }
        - entity: Feed
          table: F
          key: [id]
          attributes: { url: U }
      """,
      "m:10:13: feed leads to Feed, which no row of the table \"G\" becomes; its "
        + "records come from F"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
          relationships:
            feed: { column: f, table: F, orphan: keep }
        - entity: Feed
          table: F
          key: [id]
          attributes: { url: U }
      """,
      "m:10:44: unknown orphan \"keep\"; known are reject, drop"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
          relationships:
            feeds: { column: f, table: F }
        - entity: Feed
          table: F
          key: [id]
          attributes: { url: U }
      """,
      "m:10:14: Article has no relationship \"feeds\"; did you mean \"feed\"?"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
          relationships:
            title: { column: f, table: F }
        - entity: Feed
          table: F
          key: [id]
          attributes: { url: U }
      """,
      "m:10:14: Article.title is an attribute; map it under attributes"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
          relationships:
            source: { column: f, table: F }
        - entity: Feed
          table: F
          key: [id]
          attributes: { url: U }
      """,
      "m:10:15: Article.source is linked by equal values; map the attributes of its "
        + "key instead"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
          relationships:
            author: { column: f, table: F }
        - entity: Feed
          table: F
          key: [id]
          attributes: { url: U }
      """,
      "m:10:15: Article has no relationship \"author\"; add it with a migration, or "
        + "remove it here"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
          relationships:
            playlists: { column: p, table: P }
        - entity: Feed
          table: F
          key: [id]
          attributes: { url: U }
      """,
      "m:10:28: playlists is to-many: its links are rows of a table; use join"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
          relationships:
            playlists: { join: j, owner: a, table: P }
        - entity: Feed
          table: F
          key: [id]
          attributes: { url: U }
      """,
      "m:10:18: the key \"target\" is missing; add it"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
          relationships:
            playlists: { join: j, owner: a, target: b, order: o, table: P }
        - entity: Feed
          table: F
          key: [id]
          attributes: { url: U }
      """,
      "m:10:57: playlists is not ordered; remove order"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
          relationships:
            playlists: { join: j, owner: a, target: b, table: P }
        - entity: Feed
          table: F
          key: [id]
          attributes: { url: U }
      """,
      "m:10:18: playlists leads to Playlist, which no row of the table \"P\" becomes; "
        + "map a table to Playlist, or remove the relationship"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Article
          table: T
          key: [id]
          attributes:
            guid: G
          relationships:
            playlists: { join: j, owner: [a, a], target: b, table: P }
        - entity: Feed
          table: F
          key: [id]
          attributes: { url: U }
      """,
      "m:10:40: the column \"a\" occurs twice; remove one"
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Chapter
          table: T
          key: [id]
      """,
      "m:4:5: Chapter.article is required, but records are written before their links; make it "
        + "optional in a migration"
    ),
  ]
}
