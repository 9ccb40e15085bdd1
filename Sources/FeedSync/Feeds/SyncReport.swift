import FeedDocuments
import HTTPClient

/// The counts of one run.
public struct SyncReport: Codable, Sendable {
  /// The outcome of a run.
  public enum Outcome: String, Codable, Sendable {
    case synced
    /// The server answered 304, or sent the same bytes as before.
    case notModified
    /// No request was sent: the last answer is still fresh.
    case fresh
    /// Items were stored, but none deleted, because too many would have been.
    case deletionsRefused
    /// Items were stored, but none deleted, because the listing was incomplete.
    case incomplete
    /// The run has failed. What it committed before stays.
    case failed
  }

  /// An item that was not stored, or not in full, and the reason.
  public struct Rejection: Codable, Sendable {
    public var id: String?
    public var reason: String
  }

  /// The feed's URL without secrets.
  public var feed: String
  public var outcome = Outcome.synced
  /// `full`, `delta` or `window`; empty if no document was read.
  public var mode = ""
  public var isResumed = false
  public var new = 0
  public var changed = 0
  public var unchanged = 0
  public var deleted = 0
  /// The part of `deleted` that a full listing no longer had.
  public var absent = 0
  /// Items older than the stored ones, listed twice, or deleted since.
  public var skipped = 0
  /// The part of `skipped` that has the id of another item of its page, but other content.
  public var duplicates = 0
  public var rejected = 0
  public var unknownKinds = 0
  /// The names of unknown kinds, at most 16 of them.
  public var unknownKindNames: [String] = []
  /// Optional values of a wrong type, left out of stored items, and entries of user values that
  /// cannot be read.
  public var dropped = 0
  /// Dates too far in the future, reduced to a day from now.
  public var futureDates = 0
  /// Items with different content under one revision.
  public var revisionClashes = 0
  /// User values that were changed by the server.
  public var userValues = 0
  /// The number of records that a refused deletion would have removed.
  public var refusedDeletions = 0
  public var pages = 0
  public var requests = 0
  /// The bytes as transferred.
  public var bytes = 0
  /// Remarks about single items, the first 20 of them.
  public var rejections: [Rejection] = []
  /// The number of all remarks.
  public var remarks = 0
  /// Members of items that the mapping does not know.
  public var unknownMembers = 0
  /// Their names, at most 16 of them.
  public var unknownNames: [String] = []
  /// Unknown members that are too large to be stored with their item.
  public var extraLeftOut = 0
  /// Values of another type than their attribute, by attribute.
  public var typeChanges: [String: Int] = [:]
  /// Faults of documents that were repaired or skipped, and items lost to them.
  public var faults = 0
  /// The first of these faults, with its line.
  public var firstFault: String?
  /// Items that were read from ill-formed documents.
  public var salvagedItems = 0
  /// Dates that cannot be read, and the first of them as written.
  public var unreadableDates = 0
  public var unreadableDate: String?
  /// The error of a failed run in one line, its code, and the HTTP status that it is about.
  public var error: String?
  public var errorCode: String?
  public var errorStatus: Int?

  public init(feed: String) { self.feed = shownURL(feed) }

  /// Decodes a report. Only `feed` is required: earlier versions of the program stored fewer
  /// counts.
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
    duplicates = try value(.duplicates, duplicates)
    rejected = try value(.rejected, rejected)
    unknownKinds = try value(.unknownKinds, unknownKinds)
    unknownKindNames = try value(.unknownKindNames, unknownKindNames)
    dropped = try value(.dropped, dropped)
    futureDates = try value(.futureDates, futureDates)
    revisionClashes = try value(.revisionClashes, revisionClashes)
    userValues = try value(.userValues, userValues)
    refusedDeletions = try value(.refusedDeletions, refusedDeletions)
    pages = try value(.pages, pages)
    requests = try value(.requests, requests)
    bytes = try value(.bytes, bytes)
    rejections = try value(.rejections, rejections)
    remarks = try value(.remarks, rejections.count)
    unknownMembers = try value(.unknownMembers, unknownMembers)
    unknownNames = try value(.unknownNames, unknownNames)
    extraLeftOut = try value(.extraLeftOut, extraLeftOut)
    typeChanges = try value(.typeChanges, typeChanges)
    faults = try value(.faults, faults)
    firstFault = try container.decodeIfPresent(String.self, forKey: .firstFault)
    salvagedItems = try value(.salvagedItems, salvagedItems)
    unreadableDates = try value(.unreadableDates, unreadableDates)
    unreadableDate = try container.decodeIfPresent(String.self, forKey: .unreadableDate)
    error = try container.decodeIfPresent(String.self, forKey: .error)
    errorCode = try container.decodeIfPresent(String.self, forKey: .errorCode)
    errorStatus = try container.decodeIfPresent(Int.self, forKey: .errorStatus)
  }

  /// The number of items that the feed listed.
  public var items: Int {
    new + changed + unchanged + deleted - absent + skipped + rejected + unknownKinds
  }

  /// Counts a page's deviations from its format.
  mutating func count(_ page: FeedPage) {
    let drift = page.drift
    unknownKinds += drift.unknownKinds
    FormatDrift.add(drift.unknownKindNames, to: &unknownKindNames)
    unknownMembers += drift.unknownMembers
    FormatDrift.add(drift.unknownNames, to: &unknownNames)
    extraLeftOut += drift.extraLeftOut
    faults += page.faults
    firstFault = firstFault ?? page.firstFault.flatMap { $0.shortened() }
    salvagedItems += page.salvagedItems
    unreadableDates += drift.unreadableDates
    unreadableDate = unreadableDate ?? drift.unreadableDate.flatMap { $0.shortened() }
    typeChanges.merge(drift.typeChanges, uniquingKeysWith: +)
  }

  /// Counts an item of a kind that is no entity for feeds.
  mutating func countUnknownKind(_ name: String) {
    unknownKinds += 1
    FormatDrift.add([String(name.prefix(60))], to: &unknownKindNames)
  }

  mutating func reject(_ id: String?, _ reason: String) {
    rejected += 1
    remark(id, reason)
  }

  mutating func drop(_ id: String?, _ reason: String) {
    dropped += 1
    remark(id, reason)
  }

  /// Lists what is worth a line to the operator.
  ///
  /// - Parameter id: The item or page that it is about.
  mutating func remark(_ id: String?, _ reason: String) {
    remarks += 1
    guard rejections.count < DocumentLimits.rejectionsListedMax else { return }
    rejections.append(Rejection(id: id, reason: reason))
  }
}
