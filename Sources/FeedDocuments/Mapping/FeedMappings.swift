package import EntityModel
package import StrictYAML

/// The mappings of one feed: its own mapping, or the built-in one for each format that its
/// documents may have.
package struct FeedMappings: Sendable {
  let schema: Schema
  /// The feed's entity.
  let entity: String
  /// True if homefeed/1 was requested by name.
  let isHomeFeed: Bool
  let given: ReadMapping?
  /// The hash that the store saves for homefeed/1, whose members go to the attributes of their
  /// names.
  let homeFeedHash: Int64
  let homeFeedExtras: HomeFeedExtras

  /// - Throws: `YAMLError` if the mapping no longer fits the schema.
  package init(_ text: FeedMappingText?, schema: Schema, entity: String) throws(YAMLError) {
    self.schema = schema
    self.entity = entity
    isHomeFeed = text?.isHomeFeed ?? false
    given = isHomeFeed ? nil : try text?.read(schema: schema, entity: entity)
    homeFeedHash = FeedMappingText.homeFeed.hash(schema)
    homeFeedExtras = HomeFeedExtras(schema, defaultEntity: entity)
  }

  /// True if the feed has a mapping of its own, so that no built-in one is chosen.
  package var hasOwnMapping: Bool { given != nil }

  /// True if the next page is named by the Link header of the response and not by the document.
  package var followsLinkHeader: Bool {
    if case .linkHeader? = given?.mapping.next { true } else { false }
  }

  /// Returns true if the next document is read as homefeed/1, provided that it has the format of
  /// the last one.
  package func readsHomeFeed(lastFormat: String?) -> Bool {
    isHomeFeed || given == nil && lastFormat == FeedFormat.homeFeed1.rawValue
  }

  /// Returns the built-in mapping of a format.
  func builtIn(_ format: FeedFormat) throws(DocumentError) -> ReadMapping {
    guard let text = Self.builtInText(format) else {
      throw DocumentError(.unknownFormat, detail: "found \(format.rawValue)")
    }
    do throws(YAMLError) {
      return try text.read(schema: schema, entity: entity)
    } catch {
      throw DocumentError(.invalidMapping, detail: error.description)
    }
  }

  /// Returns the hash of the mapping that will read the next document, provided that it has the
  /// format of the last one.
  package func hash(lastFormat: String?) -> Int64? {
    if let given { return given.hash }
    guard let format = lastFormat.flatMap(FeedFormat.init) else { return nil }
    if format == .homeFeed1 { return homeFeedHash }
    return Self.builtInText(format)?.hash(schema)
  }

  package static func builtInText(_ format: FeedFormat) -> FeedMappingText? {
    switch format {
    case .homeFeed1, .json: nil
    case .jsonFeed: FeedMappingText.builtIn("json-feed/1.1")
    case .rss, .rss1: FeedMappingText.builtIn("rss/2.0")
    case .atom: FeedMappingText.builtIn("atom/1.0")
    }
  }
}
