extension MappingMistakeTests {
  /// Mistakes in relationships. Each is paired with its message.
  static let relationshipMistakes: [(String, String)] = [
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
