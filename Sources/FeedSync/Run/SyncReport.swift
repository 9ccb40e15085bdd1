import FeedDocuments
import HTTPClient

/// What one run did.
public struct SyncReport: Codable, Sendable {
  public enum Outcome: String, Codable, Sendable {
    case synced
    /// The server said 304, or sent the same bytes as before.
    case notModified
    /// Nothing was asked: the last answer is good for longer, as its server has said.
    case fresh
    /// Everything was stored, but so many records would have been deleted that none were.
    case deletionsRefused
    /// Items were stored, but the listing was not whole, so nothing was deleted.
    case incomplete
  }

  public struct Rejection: Codable, Sendable {
    public var id: String?
    public var reason: String
  }

  /// Its URL, as it is shown: without secrets.
  public var feed: String
  public var outcome = Outcome.synced
  /// `full`, `delta` or `window`; empty where no document was read.
  public var mode = ""
  public var isResumed = false
  public var new = 0
  public var changed = 0
  public var unchanged = 0
  public var deleted = 0
  /// How many of `deleted` a full listing did not have any more.
  public var absent = 0
  /// Older than what is stored, listed twice, or deleted since.
  public var skipped = 0
  public var rejected = 0
  public var unknownKinds = 0
  /// Optional values of a wrong type, left out of items that were stored, and entries of the user's
  /// values that cannot be read.
  public var dropped = 0
  /// Dates too far in the future, brought back to a day from now.
  public var futureDates = 0
  /// Two contents under one revision.
  public var revisionClashes = 0
  /// Values of the user that were taken over from the server.
  public var userValues = 0
  /// How many records a refused deletion would have removed.
  public var refusedDeletions = 0
  public var pages = 0
  public var requests = 0
  /// As transferred.
  public var bytes = 0
  public var rejections: [Rejection] = []
  /// Members of items that the mapping does not know: the feed may have more to give.
  public var unknownMembers = 0
  /// Their names, at most 16 of them.
  public var unknownNames: [String] = []
  /// Those that were to be kept with their item and are too large for it.
  public var extraLeftOut = 0
  /// Values that had another type than their attribute, by attribute.
  public var typeChanges: [String: Int] = [:]
  /// Faults of documents that were passed over, and items that were lost to them.
  public var faults = 0
  /// Items of ill-formed documents that were read all the same.
  public var salvagedItems = 0

  public init(feed: String) { self.feed = shownURL(feed) }

  /// Only `feed` must be there: what a program before this one has stored counts less.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func value<Member: Decodable>(_ key: CodingKeys, _ otherwise: Member) throws -> Member {
      try container.decodeIfPresent(Member.self, forKey: key) ?? otherwise
    }
    feed = try container.decode(String.self, forKey: .feed)
    outcome = try value(.outcome, outcome)
    mode = try value(.mode, mode)
    isResumed = try value(.isResumed, isResumed)
    new = try value(.new, new)
    changed = try value(.changed, changed)
    unchanged = try value(.unchanged, unchanged)
    deleted = try value(.deleted, deleted)
    absent = try value(.absent, absent)
    skipped = try value(.skipped, skipped)
    rejected = try value(.rejected, rejected)
    unknownKinds = try value(.unknownKinds, unknownKinds)
    dropped = try value(.dropped, dropped)
    futureDates = try value(.futureDates, futureDates)
    revisionClashes = try value(.revisionClashes, revisionClashes)
    userValues = try value(.userValues, userValues)
    refusedDeletions = try value(.refusedDeletions, refusedDeletions)
    pages = try value(.pages, pages)
    requests = try value(.requests, requests)
    bytes = try value(.bytes, bytes)
    rejections = try value(.rejections, rejections)
    unknownMembers = try value(.unknownMembers, unknownMembers)
    unknownNames = try value(.unknownNames, unknownNames)
    extraLeftOut = try value(.extraLeftOut, extraLeftOut)
    typeChanges = try value(.typeChanges, typeChanges)
    faults = try value(.faults, faults)
    salvagedItems = try value(.salvagedItems, salvagedItems)
  }

  /// How many items the feed listed.
  public var items: Int {
    new + changed + unchanged + deleted - absent + skipped + rejected + unknownKinds
  }

  /// Counts what a page shows of changes in the feed's form.
  mutating func take(_ page: FeedPage) {
    unknownKinds += page.unknownKinds
    unknownMembers += page.unknownMembers
    extraLeftOut += page.extraLeftOut
    faults += page.faults
    salvagedItems += page.salvagedItems
    typeChanges.merge(page.typeChanges, uniquingKeysWith: +)
    for name in page.unknownNames
    where unknownNames.count < FormatDrift.namesMax && !unknownNames.contains(name) {
      unknownNames.append(name)
    }
  }

  mutating func reject(_ id: String?, _ reason: String) {
    rejected += 1
    note(id, reason)
  }

  mutating func drop(_ id: String?, _ reason: String) {
    dropped += 1
    note(id, reason)
  }

  private mutating func note(_ id: String?, _ reason: String) {
    guard rejections.count < DocumentLimits.rejectionsListedMax else { return }
    rejections.append(Rejection(id: id, reason: reason))
  }
}
