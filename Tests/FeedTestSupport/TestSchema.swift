package import EntityModel
import EntityStore
package import FeedDocuments
import HomeFeed
package import Migrations

/// Schemas that mappings are read against.
package enum TestSchema {
  package static let homeFeed = Result { try schema([.homeFeed]) }

  package static let library = Result { try schema([libraryMigrations]) }

  /// Entities of every kind of attribute that a mapping can fill.
  package static let libraryMigrations = MigrationSource(embedded: [
    ("0001_library", Array(libraryText.utf8))
  ])

  private static func schema(_ sources: [MigrationSource]) throws -> Schema {
    try Schema(of: MigrationLine.load(sources))
  }

  private static let libraryText =
    """
    line: library
    summary: What mappings are read against
    steps:
    """
    + [
      "Entry": ["locale: string", "kind: string", "title: string", "locales: int64"],
      "Film": ["title: string", "genres: strings", "score: double", "adult: bool"],
      "Video": [
        "title: string", "summary: string", "order: int64", "collectionId: string",
        "revision: string", "image: string", "url: url", "channel: string", "duration: int64",
        "views: int64", "tags: strings",
      ],
      "Note": ["title: string", "extra: string"],
      "Playlist": ["title: string", "count: int64"],
      "Sample": [
        "text: string", "number: int64", "ratio: double", "price: decimal", "flag: bool",
        "day: date", "list: strings", "link: url", "token: uuid", "bytes: data",
      ],
    ].sorted { $0.key < $1.key }.map(entity).joined()

  private static func entity(_ name: String, _ attributes: [String]) -> String {
    let optional = attributes.map { attribute in
      let parts = attribute.split(separator: ": ")
      return "        - { name: \(parts[0]), type: \(parts[1]), optional: true }"
    }
    return """

      - createEntity:
          name: \(name)
          attributes:
            - { name: id, type: string, maxLength: 512 }
            - { name: updatedAt, type: date, optional: true }
            - { name: feedID, type: int64, optional: true }
            - { name: feedRevision, type: int64, optional: true }
            - { name: feedHash, type: int64, optional: true }
            - { name: mine, type: string, optional: true, owner: local }
            - { name: state, type: enum, values: { open: 1, shut: 2 }, optional: true }
      \(optional.map { "      \($0.drop { $0 == " " })" }.joined(separator: "\n"))
      - createIndex: { on: \(name), name: byID, keys: [id, feedID], unique: true }
      """.split(separator: "\n", omittingEmptySubsequences: false)
        .map { $0.isEmpty ? "" : "  " + $0 }.joined(separator: "\n")
  }
}

extension FeedItem {
  /// The item's values by name.
  package var values: [String: Value] {
    Dictionary(
      fields.compactMap { field in
        if case .value(let value) = field.value { (field.name, value) } else { nil }
      }, uniquingKeysWith: { first, _ in first })
  }
}

/// Passes `bytes` to the closure with the padding that the parser requires. The padding contains
/// JSON, so that a parser which reads into it is detected.
package func withPadding<Value>(
  _ bytes: some Collection<UInt8>,
  _ body: (UnsafeRawBufferPointer) throws(DocumentError) -> Value
) throws(DocumentError) -> Value {
  let filler = Array("}]}\",1:{[9".utf8)
  var padded = Array(bytes)
  padded.append(contentsOf: (0..<JSONParser.padding).map { filler[$0 % filler.count] })
  let outcome = padded.withUnsafeBytes { buffer in
    Result { () throws(DocumentError) -> Value in
      try body(UnsafeRawBufferPointer(rebasing: buffer.prefix(bytes.count)))
    }
  }
  return try outcome.get()
}
