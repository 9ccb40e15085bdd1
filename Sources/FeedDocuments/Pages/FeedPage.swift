/// The formats that `FeedPage.parse` tells apart by what the document says of itself.
package enum FeedFormat: String, Sendable {
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
package enum FeedMode: String, Sendable, CaseIterable {
  /// All that there is: an item that no page lists is gone.
  case full
  /// What has changed since a checkpoint, deletions included.
  case delta
  /// The newest items: older ones leave the document without being gone.
  case window
}

/// One document of a feed as it was published: checked against its format, its items not yet made
/// rows of entities. A pure value, made without clock, store and network.
package struct FeedPage: Equatable, Sendable {
  package var format: FeedFormat
  package var title: String?
  package var mode: FeedMode
  /// Identity of the data set; when it changes, revisions and checkpoints start anew.
  package var epoch: String?
  /// The server's sequence number that all pages of one listing are consistent with.
  package var version: Int64?
  /// The version that a delta starts from.
  package var since: Int64?
  /// In document order; an id may appear twice.
  package var items: [FeedItem] = []
  package var users: [UserEntry] = []
  /// Entries of `entities` or `items` that broke a rule by themselves.
  package var rejected: [RejectedItem] = []
  /// Entries of `user` that broke a rule by themselves.
  package var rejectedUsers: [RejectedItem] = []
  /// Where the next page is, absolute or relative, as given; nil on the last page.
  package var next: String?
  /// On the last page: what to ask the next delta with. Opaque.
  package var checkpoint: String?
  /// Seconds for which the answer stays good.
  package var timeToLive: Int?
  /// Members that the format does not define, in the document and in its items. Names that begin
  /// with "_" are extensions and are not counted.
  package var unknownMembers = 0
  /// Names of unknown members of items, at most `FormatDrift.namesMax`.
  package var unknownNames: [String] = []
  /// Optional members that were left out because their value had the wrong type or range.
  package var droppedMembers = 0
  /// Values of a wrong type for which a default stands, by attribute.
  package var typeChanges: [String: Int] = [:]
  /// Unknown members that were to be kept with their item and are too large.
  package var extraLeftOut = 0
  /// Items of kinds that the mapping does not name.
  package var unknownKinds = 0
  /// What the next run begins with, of a page that a mapping read; as `checkpoint`.
  package var nextRun: NextRun?
  /// Attributes whose change makes no changed item, by entity; "" is the one the feed goes to.
  package var volatileAttributes: [String: Set<String>] = [:]
  /// How the items are told apart: to be kept for the feed's later documents.
  package var identity: String?
  /// A hash of what read it: of the mapping, or of homefeed/1 with the attributes that there are.
  package var mappingHash: Int64?
  /// Whether the document was there to its end, as far as one can tell.
  package var isComplete = true
  /// Faults of the text that were passed over, and items that were lost to them.
  package var faults = 0
  /// Items that were read although the text is ill-formed.
  package var salvagedItems = 0
}

extension FeedPage {
  /// A URL as given, absolute or relative to the page; or a parameter of the feed's URL.
  package enum NextRun: Equatable, Sendable {
    case url(String)
    case query(String, String)
  }

  package mutating func take(_ drift: FormatDrift) {
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

/// What is known of the answer that a document came with.
package struct DocumentSource: Sendable {
  /// Quoted in errors only: what the body is decides.
  package var contentType: String?
  /// The URL that gave the answer.
  package var url = ""
  /// Whether the run began with a checkpoint, so that the document lists changes only.
  package var isDelta = false
  /// How the feed's items are told apart, if that was chosen before.
  package var identity: String?

  package init(
    contentType: String? = nil, url: String = "", isDelta: Bool = false, identity: String? = nil
  ) {
    (self.contentType, self.url) = (contentType, url)
    (self.isDelta, self.identity) = (isDelta, identity)
  }
}

/// The bounds of reading a page of a feed, each with its reason.
package enum DocumentLimits {
  /// Bytes of one item's values. A record may be larger, but one commit should not hold many such
  /// records.
  package static let itemBytesMax = 4 << 20
  /// Bytes of the unknown members that are kept with an item.
  static let extraBytesMax = 16 << 10
  /// Rejected items that are listed one by one; any further ones are only counted.
  package static let rejectionsListedMax = 20
}
