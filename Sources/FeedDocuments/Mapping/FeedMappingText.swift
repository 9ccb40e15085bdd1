public import EntityModel
public import StrictYAML

/// A mapping as it was written, or one that is built in.
public struct FeedMappingText: Sendable, Equatable {
  /// The file's text, or the name of a built-in mapping.
  public let text: String
  /// What errors call the file.
  private let file: String

  public init(_ text: String, file: String) {
    self.text = text
    self.file = file
  }

  /// Bytes of a mapping.
  public static let bytesMax = FeedMappingFile.bytesMax

  /// The names of the mappings that are built in.
  public static let builtInNames = BuiltInMapping.all.flatMap(\.names) + [homeFeedName]

  /// The native format, which is read without a mapping.
  static let homeFeedName = "homefeed/1"
  static let homeFeed = FeedMappingText(homeFeedName, file: homeFeedName)

  /// - Returns: `nil` if there is no built-in mapping of that name.
  public static func builtIn(_ name: String) -> FeedMappingText? {
    builtInNames.contains(name) ? FeedMappingText(name, file: name) : nil
  }

  /// What a feed's documents are read by: the text in full, of a built-in mapping, too.
  public var fullText: String { builtIn?.text ?? text }

  /// Checks the mapping against a schema.
  ///
  /// - Parameter entity: The entity that the feed goes to.
  /// - Throws: `YAMLError` at the first place that is wrong.
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

  /// Another one when items are read, or recognized as unchanged, otherwise than by programs before.
  private static let generation = 2

  /// Changes with the text, and where attributes are passed over, with those that there are.
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

/// A mapping that has been checked, and the hash by which the store knows it.
struct ReadMapping: Sendable {
  var mapping: FeedMapping
  var hash: Int64
}

/// A mapping that comes with the program.
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
