public import EntityModel
public import StrictYAML

/// The text of a mapping file, or the name of a built-in mapping.
public struct FeedMappingText: Sendable, Equatable {
  /// The file's text, or the name of a built-in mapping.
  public let text: String
  /// The file's name in errors.
  private let file: String

  /// - Parameters:
  ///   - text: The content of the file, or the name of a built-in mapping.
  ///   - file: The file's name in errors.
  public init(_ text: String, file: String) {
    self.text = text
    self.file = file
  }

  /// The largest size of a mapping file in bytes.
  public static let bytesMax = FeedMappingFile.bytesMax

  /// The names of the built-in mappings.
  public static let builtInNames = BuiltInMapping.all.flatMap(\.names) + [homeFeedName]

  /// The native format, which is read without a mapping.
  static let homeFeedName = "homefeed/1"
  static let homeFeed = FeedMappingText(homeFeedName, file: homeFeedName)

  /// Returns the built-in mapping of that name; nil if there is none.
  public static func builtIn(_ name: String) -> FeedMappingText? {
    builtInNames.contains(name) ? FeedMappingText(name, file: name) : nil
  }

  /// The text of the mapping file, also for a built-in mapping.
  public var fullText: String { builtIn?.text ?? text }

  /// Checks the mapping against a schema.
  ///
  /// - Parameter entity: The entity that the items belong to, unless the mapping names another one.
  /// - Throws: `YAMLError` at the first mistake, with its place and what to write there.
  public func check(schema: Schema, entity: String) throws(YAMLError) {
    if !isHomeFeed { _ = try read(schema: schema, entity: entity) }
  }

  package var isHomeFeed: Bool { text == Self.homeFeedName }

  func read(schema: Schema, entity: String) throws(YAMLError) -> ReadMapping {
    let mapping = try FeedMappingFile.read(
      Array(fullText.utf8), file: file, schema: schema, entity: entity, isBuiltIn: builtIn != nil)
    return ReadMapping(mapping: mapping, hash: hash(schema))
  }

  private var builtIn: BuiltInMapping? { BuiltInMapping.all.first { $0.names.contains(text) } }

  /// Increased when items are read, or recognized as unchanged, differently than by earlier
  /// versions.
  private static let generation = 3

  /// Returns a hash that changes with the text and, for a built-in mapping, with the schema's
  /// attributes, because such a mapping ignores attributes that do not exist.
  func hash(_ schema: Schema) -> Int64 {
    guard builtIn != nil || isHomeFeed else {
      return TextHash.of("\(Self.generation)\0\(text)")
    }
    let attributes = schema.entities.filter { $0.attribute(named: "feedID") != nil }.map { entity in
      entity.name
        + entity.attributes.filter { $0.owner == .feed }
        .map { "\0\($0.name)\0\($0.type.name)" }.joined()
    }
    let parts = ["\(Self.generation)", fullText] + attributes.sorted()
    return TextHash.of(parts.joined(separator: "\0\0"))
  }
}

/// A checked mapping, and the hash that the store saves for it.
struct ReadMapping: Sendable {
  var mapping: FeedMapping
  var hash: Int64
}

/// A mapping that is part of the program.
struct BuiltInMapping: Sendable {
  let names: [String]
  let text: String

  static let all = [
    BuiltInMapping(names: ["json-feed/1.1"], PackageResources.json_feed_yaml),
    BuiltInMapping(names: ["rss/2.0", "rss/1.0"], PackageResources.rss_yaml),
    BuiltInMapping(names: ["atom/1.0"], PackageResources.atom_yaml),
  ]

  private init(names: [String], _ bytes: [UInt8]) {
    self.names = names
    text = String(decoding: bytes, as: UTF8.self)
  }
}
