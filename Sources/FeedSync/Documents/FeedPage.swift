import HTTPClient

/// The formats that `FeedPage.parse` tells apart by what the document says of itself.
enum FeedFormat: String, Sendable {
  case homeFeed1 = "homefeed/1"
  /// JSON Feed 1 and 1.1, https://jsonfeed.org/version/1.1
  case jsonFeed = "JSON Feed"
  /// RSS 0.91 to 2.0
  case rss = "RSS"
  /// RSS 0.90, 1.0 and 1.1, which are RDF
  case rss1 = "RSS 1.0"
  /// Atom 0.3 and 1.0
  case atom = "Atom"
  /// Any JSON that a mapping of its own reads.
  case json = "JSON"
}

/// What the absence of an item from the whole listing means.
enum FeedMode: String, Sendable, CaseIterable {
  /// All that there is: an item that no page lists is gone.
  case full
  /// What has changed since a checkpoint, deletions included.
  case delta
  /// The newest items: older ones leave the document without being gone.
  case window
}

/// One document of a feed as it was published: checked against its format, its items not yet made
/// rows of entities. A pure value, made without clock, store and network.
struct FeedPage: Equatable, Sendable {
  var format: FeedFormat
  var title: String?
  var mode: FeedMode
  /// Identity of the data set; when it changes, revisions and checkpoints start anew.
  var epoch: String?
  /// The server's sequence number that all pages of one listing are consistent with.
  var version: Int64?
  /// The version that a delta starts from.
  var since: Int64?
  /// In document order; an id may appear twice.
  var items: [FeedItem] = []
  var users: [UserEntry] = []
  /// Entries of `entities` or `items` that broke a rule by themselves.
  var rejected: [RejectedItem] = []
  /// Entries of `user` that broke a rule by themselves.
  var rejectedUsers: [RejectedItem] = []
  /// Where the next page is, absolute or relative, as given; nil on the last page.
  var next: String?
  /// On the last page: what to ask the next delta with. Opaque.
  var checkpoint: String?
  /// Seconds for which the answer stays good.
  var timeToLive: Int?
  /// Members that the format does not define, in the document and in its items. Names that begin
  /// with "_" are extensions and are not counted.
  var unknownMembers = 0
  /// Names of unknown members of items, at most `FormatDrift.namesMax`.
  var unknownNames: [String] = []
  /// Optional members that were left out because their value had the wrong type or range.
  var droppedMembers = 0
  /// Values of a wrong type for which a default stands, by attribute.
  var typeChanges: [String: Int] = [:]
  /// Unknown members that were to be kept with their item and are too large.
  var extraLeftOut = 0
  /// Items of kinds that the mapping does not name.
  var unknownKinds = 0
  /// What the next run begins with, of a page that a mapping read; as `checkpoint`.
  var nextRun: NextRun?
  /// Attributes whose change makes no changed item, by entity; "" is the one the feed goes to.
  var volatileAttributes: [String: Set<String>] = [:]
  /// How the items are told apart: to be kept for the feed's later documents.
  var identity: String?
  /// A hash of what read it: of the mapping, or of homefeed/1 with the attributes that there are.
  var mappingHash: Int64?
  /// Whether the document was there to its end, as far as one can tell.
  var isComplete = true
  /// Faults of the text that were passed over, and items that were lost to them.
  var faults = 0
  /// Items that were read although the text is ill-formed.
  var salvagedItems = 0
}

extension FeedPage {
  /// A URL as given, absolute or relative to the page; or a parameter of the feed's URL.
  enum NextRun: Equatable, Sendable {
    case url(String)
    case query(String, String)
  }

  mutating func take(_ drift: FormatDrift) {
    unknownMembers += drift.unknownMembers
    droppedMembers += drift.droppedMembers
    extraLeftOut += drift.extraLeftOut
    unknownKinds += drift.unknownKinds
    typeChanges.merge(drift.typeChanges, uniquingKeysWith: +)
    for name in drift.unknownNames
    where unknownNames.count < FormatDrift.namesMax && !unknownNames.contains(name) {
      unknownNames.append(name)
    }
  }
}

extension FeedPage {
  /// Reads a whole document: homefeed/1 by itself, any other by a mapping.
  ///
  /// Damage to the structure (a cut, a missing comma, bytes behind the end) and broken rules of
  /// the document itself fail the page; what is wrong inside one item rejects that item. Of a name
  /// given twice in an object the last counts. O(length), but for what the paths of a mapping of
  /// one's own take, which is bounded.
  ///
  /// - Parameter bytes: The body, with `JSONParser.padding` readable bytes behind it.
  static func parse(
    _ bytes: UnsafeRawBufferPointer, _ source: DocumentSource, by mappings: FeedMappings
  ) throws(DocumentError) -> FeedPage {
    do throws(DocumentError) {
      let parser = try JSONParser()
      if DocumentGuess(bytes) == .xml { return try page(ofXML: bytes, parser, source, mappings) }
      if let given = mappings.given {
        return try page(bytes, parser, given, .json, source)
      }
      let format = try parser.withDocument(bytes) { document throws(DocumentError) in
        try FeedRoot(document).format()
      }
      guard format != .homeFeed1 else {
        return try parser.withDocument(bytes) { document throws(DocumentError) in
          var page = try HomeFeedDocument(
            try FeedRoot(document), keeping: mappings.homeFeedExtras
          ).page()
          page.mappingHash = mappings.homeFeedHash
          return page
        }
      }
      guard !mappings.isHomeFeed else {
        throw DocumentError(.unknownFormat, detail: "found \(format.rawValue), not homefeed/1")
      }
      return try page(bytes, parser, try mappings.builtIn(format), format, source)
    } catch  where error.code != .outOfMemory && error.location.isEmpty {
      throw error.explained(by: bytes, contentType: source.contentType)
    }
  }

  /// RSS and Atom are read as one JSON view.
  private static func page(
    ofXML bytes: UnsafeRawBufferPointer, _ parser: JSONParser, _ source: DocumentSource,
    _ mappings: FeedMappings
  ) throws(DocumentError) -> FeedPage {
    let view = try FeedView.read(
      bytes, contentType: source.contentType, baseURL: source.url.isEmpty ? nil : source.url)
    guard !mappings.isHomeFeed else {
      throw DocumentError(.unknownFormat, detail: "found \(view.format.rawValue), not homefeed/1")
    }
    let mapping = if let given = mappings.given { given } else { try mappings.builtIn(view.format) }
    var page = try view.json.withUnsafeBytes { json throws(DocumentError) -> FeedPage in
      try Self.page(json, parser, mapping, view.format, source)
    }
    page.isComplete = view.isComplete
    page.faults = view.faults + view.lostItems
    page.salvagedItems = view.salvagedItems
    return page
  }

  private static func page(
    _ bytes: UnsafeRawBufferPointer, _ parser: JSONParser, _ mapping: ReadMapping,
    _ format: FeedFormat, _ source: DocumentSource
  ) throws(DocumentError) -> FeedPage {
    var page: FeedPage
    do throws(DocumentError) {
      page = try parser.withValue(bytes) { root throws(DocumentError) in
        try MappedDocument(mapping.mapping, root, format: format, source).page()
      }
    } catch  where error.isInsideAValue {
      guard let damaged = try DamagedElements(bytes, parser) else { throw error }
      page = try damaged.withValue(parser) { root throws(DocumentError) in
        try MappedDocument(mapping.mapping, root, format: format, source)
          .page(damaged: damaged.errors)
      }
    }
    page.mappingHash = mapping.hash
    return page
  }
}

extension FeedRoot {
  /// The format that the document says it has.
  fileprivate func format() throws(DocumentError) -> FeedFormat {
    if try string("format") == FeedFormat.homeFeed1.rawValue { return .homeFeed1 }
    let version = try string("version") ?? ""
    if ["https://", "http://"].contains(where: { version.hasPrefix($0 + "jsonfeed.org/version/") })
    {
      return .jsonFeed
    }
    throw DocumentError(.unknownFormat, detail: try describeFormat())
  }
}

extension DocumentError {
  /// Whether the structure of the document is sound.
  fileprivate var isInsideAValue: Bool {
    switch code {
    case .invalidString, .invalidNumber, .invalidLiteral, .invalidUTF8, .tooDeep: true
    default: false
    }
  }
}

extension DocumentError {
  /// Adds what the body seems to be when it is no JSON document at all.
  func explained(
    by bytes: UnsafeRawBufferPointer, contentType: String?
  ) -> DocumentError {
    var explained = self
    if let guess = DocumentGuess(bytes), guess != .xml {
      explained.code = .unknownFormat
      explained.detail = "found \(guess.rawValue)"
    }
    guard
      explained.code == .unknownFormat || explained.code == .notAnObject
        || explained.code == .empty, let contentType
    else { return explained }
    let label = "the answer is labelled \(contentType.prefix(100))"
    explained.detail = explained.detail.map { "\($0); \(label)" } ?? label
    return explained
  }
}

/// What a body that is not JSON looks like.
enum DocumentGuess: String {
  /// HTML, too, which only its reader tells from a feed that has some in it.
  case xml = "XML"
  case utf16 = "UTF-16 text; JSON must be UTF-8"
  case gzip = "gzip data"

  init?(_ bytes: UnsafeRawBufferPointer) {
    let marks: [([UInt8], DocumentGuess)] = [
      ([0xFF, 0xFE, 0x3C, 0x00], .xml), ([0xFE, 0xFF, 0x00, 0x3C], .xml),
      ([0x3C, 0x00], .xml), ([0x00, 0x3C], .xml), ([0x00, 0x00, 0x00, 0x3C], .xml),
      ([0xFF, 0xFE], .utf16), ([0xFE, 0xFF], .utf16), ([0x1F, 0x8B], .gzip),
      ([0x7B, 0x00], .utf16), ([0x00, 0x7B], .utf16),
    ]
    for (mark, guess) in marks where bytes.starts(with: mark) {
      self = guess
      return
    }
    let byteOrderMark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let text = bytes.dropFirst(byteOrderMark).drop { $0 <= 0x20 }
    guard text.first == UInt8(ascii: "<") else { return nil }
    self = .xml
  }
}
