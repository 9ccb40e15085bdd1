extension MappingMistakeTests {
  /// Mistakes in the file and in the tables of its entities. Each is paired with its message.
  static let fileMistakes: [(String, String)] = [
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
      lostTables: { t: "SELECT 1" }
      entities: []
      """,
      "m:3:18: write the statement that creates the table: CREATE TABLE …"
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
  ]
}
