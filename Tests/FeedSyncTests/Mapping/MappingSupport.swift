import EntityModel
import EntityStore
import Foundation
import HomeFeed

@testable import FeedSync

/// Schemas that mappings are read against.
enum TestSchema {
  static let homeFeed = Result { try schema([.homeFeed]) }

  static let library = Result { try schema([libraryMigrations]) }

  /// Entities of every kind of attribute that a mapping can fill.
  static let libraryMigrations = MigrationSource(embedded: [
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

/// Reads a mapping against the library.
func readMapping(_ text: String, entity: String = "Sample") throws -> FeedMapping {
  try FeedMappingFile.read(
    Array(text.utf8), file: "m", schema: try TestSchema.library.get(), entity: entity)
}

/// Reads a document by a mapping of the library.
func mappedPage(
  _ document: String, by mapping: String, entity: String = "Sample",
  _ source: DocumentSource = DocumentSource()
) throws -> FeedPage {
  try mappedPage(Array(document.utf8), by: mapping, entity: entity, source)
}

func mappedPage(
  _ document: [UInt8], by mapping: String, entity: String = "Sample",
  _ source: DocumentSource = DocumentSource()
) throws -> FeedPage {
  let mappings = try FeedMappings(
    FeedMappingText(mapping, file: "m"), schema: try TestSchema.library.get(), entity: entity)
  return try withPadding(document) { bytes throws(DocumentError) in
    try FeedPage.parse(bytes, source, by: mappings)
  }
}

extension FeedItem {
  /// The item's values by name.
  var values: [String: Value] {
    Dictionary(
      fields.compactMap { field in
        if case .value(let value) = field.value { (field.name, value) } else { nil }
      }, uniquingKeysWith: { first, _ in first })
  }
}
