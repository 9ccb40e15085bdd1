/// The formats that `FeedPage.parse` recognizes.
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
  /// Any other JSON, read by the feed's own mapping.
  case json = "JSON"

  /// Returns true for the `version` member of a JSON Feed.
  package static func isJSONFeed(version: String?) -> Bool {
    ["https://", "http://"].contains { version?.hasPrefix($0 + "jsonfeed.org/version/") == true }
  }
}

/// The meaning of an item's absence from all pages of a run.
package enum FeedMode: String, Sendable, CaseIterable {
  /// The pages list all items: one that is absent was deleted.
  case full
  /// The pages list the changes since a checkpoint, deletions included.
  case delta
  /// The pages list the newest items: an older one leaves them without being deleted.
  case window
}

/// One document of a feed, checked against its format. Its items are not yet rows of entities.
package struct FeedPage: Equatable, Sendable {
  package var format: FeedFormat
  package var title: String?
  package var mode: FeedMode
  /// The identity of the data set; when it changes, revisions and checkpoints start again.
  package var epoch: String?
  /// The server's sequence number that all pages of one listing are consistent with.
  package var version: Int64?
  /// The version that a delta starts from.
  package var since: Int64?
  /// The items in document order; an id may occur twice.
  package var items: [FeedItem] = []
  package var users: [UserEntry] = []
  /// Items that were rejected one by one.
  package var rejected: [RejectedItem] = []
  /// Entries of `user` that were rejected one by one.
  package var rejectedUsers: [RejectedItem] = []
  /// The next page's URL, absolute or relative, as given; nil on the last page.
  package var next: String?
  /// The server's checkpoint for the next delta, on the last page. Opaque.
  package var checkpoint: String?
  /// Seconds for which the response stays fresh.
  package var timeToLive: Int?
  /// Members and values that the format does not define, or not in this way.
  package var drift = FormatDrift()
  /// The address with which the next run begins, on a page that a mapping has read.
  package var nextRun: NextRun?
  /// Attributes whose change alone does not count as a change of the item, by entity; "" stands for
  /// the feed's entity.
  package var volatileAttributes: [String: Set<String>] = [:]
  /// The level by which items are identified, to be used for the feed's later documents too.
  package var identity: String?
  /// The hash of the mapping that has read the page, or of homefeed/1 and the entities' attributes.
  package var mappingHash: Int64?
  /// False if the end of the document is known to be missing.
  package var isComplete = true
  /// The number of faults in the text that were tolerated, and of items that were lost to them.
  package var faults = 0
  /// The first of these faults, with its line.
  package var firstFault: String?
  /// The number of items that were read although the text is ill-formed.
  package var salvagedItems = 0
}

extension FeedPage {
  /// A URL as given, absolute or relative to the page, or a parameter of the feed's URL.
  package enum NextRun: Equatable, Sendable {
    case url(String)
    case query(String, String)
  }
}

/// The facts about a document that its response reports.
package struct DocumentSource: Sendable {
  /// The Content-Type, which is used for its charset and in errors. The format is read in the body.
  package var contentType: String?
  /// The URL of the response.
  package var url = ""
  /// True if the run began with a checkpoint, so that the document lists changes only.
  package var isDelta = false
  /// The level by which the feed's items are identified, if it was chosen before.
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
  /// Bytes of an item's record. The store allows larger ones, but one commit should not hold many
  /// such records.
  package static let itemBytesMax = 4 << 20
  /// Bytes of the unknown members that are kept with an item.
  static let extraBytesMax = 16 << 10
  /// Bytes of an id: the size of the attribute in most stores.
  package static let idBytesMax = 512
  /// Rejected items that are listed one by one; any further ones are only counted.
  package static let rejectionsListedMax = 20
}
