/// The formats that `FeedPage.parse` tells apart by what the document says of itself.
enum FeedFormat: String, Sendable {
  case homeFeed1 = "homefeed/1"
  /// JSON Feed 1 and 1.1, https://jsonfeed.org/version/1.1
  case jsonFeed = "JSON Feed"
}

/// What the absence of an item from the whole listing means.
enum FeedMode: String, Sendable {
  /// All that there is: an item that no page lists is gone.
  case full
  /// What has changed since a checkpoint, deletions included.
  case delta
  /// The newest items: older ones leave the document without being gone.
  case window
}

/// One document of a feed as it was published: checked against its format, not yet fitted to
/// entities. A pure value, made without clock, store and network.
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
  var pageIndex: Int?
  /// On the last page: what to ask the next delta with. Opaque.
  var checkpoint: String?
  /// Deltas from before this version would be incomplete.
  var horizon: Int64?
  /// Seconds for which the answer stays good.
  var timeToLive: Int?
  /// Members that the format does not define, in the document and in its items. Names that begin
  /// with "_" are extensions and are not counted.
  var unknownMembers = 0
  /// Optional members that were left out because their value had the wrong type or range.
  var droppedMembers = 0
}

extension FeedPage {
  /// Reads a whole document of either format.
  ///
  /// Damage to the structure (a cut, a missing comma, bytes behind the end) and broken rules of
  /// the document itself fail the page; what is wrong inside one item rejects that item. Of a name
  /// given twice in an object the last counts. O(length).
  ///
  /// - Parameters:
  ///   - bytes: The body, with `JSONParser.padding` readable bytes behind it.
  ///   - contentType: The answer's Content-Type, quoted in errors only: what the body is decides.
  static func parse(
    _ bytes: UnsafeRawBufferPointer, contentType: String?
  ) throws(DocumentError) -> FeedPage {
    let parser = try JSONParser()
    do {
      return try parser.withDocument(bytes) { document throws(DocumentError) in
        try parse(document, contentType: contentType)
      }
    } catch  where error.code != .outOfMemory && error.location.isEmpty {
      throw error.explained(by: bytes, contentType: contentType)
    }
  }

  private static func parse(
    _ document: JSONDocument, contentType: String?
  ) throws(DocumentError) -> FeedPage {
    let root = try FeedRoot(document)
    if try root.string("format") == FeedFormat.homeFeed1.rawValue {
      return try HomeFeedDocument(root).page()
    }
    let version = try root.string("version")
    if let version,
      version.hasPrefix("https://jsonfeed.org/version/")
        || version.hasPrefix("http://jsonfeed.org/version/")
    {
      return try JSONFeedDocument(root).page()
    }
    throw DocumentError(.unknownFormat, detail: try root.describeFormat())
  }
}

extension DocumentError {
  /// Adds what the body seems to be when it is no JSON document at all.
  fileprivate func explained(
    by bytes: UnsafeRawBufferPointer, contentType: String?
  ) -> DocumentError {
    var explained = self
    if let guess = DocumentGuess(bytes) {
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

/// What a body that is not a JSON object looks like.
private enum DocumentGuess: String {
  case html = "HTML"
  case xml = "XML"
  case utf16 = "UTF-16 text; JSON must be UTF-8"
  case gzip = "gzip data"

  init?(_ bytes: UnsafeRawBufferPointer) {
    let marks: [([UInt8], DocumentGuess)] = [
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
    let start = String(decoding: text.prefix(1_000), as: UTF8.self).lowercased()
    self = start.hasPrefix("<!doctype html") || start.contains("<html") ? .html : .xml
  }
}
