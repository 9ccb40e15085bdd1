extension MappingMistakeTests {
  /// Mistakes in matches and in the names of attributes. Each is paired with its message.
  static let attributeMistakes: [(String, String)] = [
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
  ]
}
