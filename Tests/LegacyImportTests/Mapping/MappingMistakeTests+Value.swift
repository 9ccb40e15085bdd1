extension MappingMistakeTests {
  /// Mistakes in the column, conversion and replacements of an attribute. Each is paired with its
  /// message.
  static let valueMistakes: [(String, String)] = [
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
            guid: { column: G, missingFile: drop }
      """,
      "m:8:39: missingFile is for values in files; add external: true, or remove it"
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
            artwork: { column: A, external: true, missingFile: ignore }
      """,
      "m:9:58: unknown missingFile \"ignore\"; known are reject, drop, rejectRow"
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
  ]
}
