public import EntityStore
public import FeedDocuments
public import Foundation
import HTTPClient

/// A feed as it is stored: its URL, settings, the state for its next request, and its last errors.
public struct Feed: Entity, Equatable {
  public static let entityName = "_Feed"

  /// The operator's URL, which identifies the feed.
  public var url: String
  /// The entity of items that name no kind.
  public var entity: String
  /// The title of the last document that has one.
  public var title: String?
  /// The operator's title, if it is not that of the documents.
  public var customTitle: String?
  /// The folder in which readers show the feed: the titles of the folders around it, the outermost
  /// first. Nil if it is in none.
  public var folder: [String]?
  public var categories: [String]?
  /// The time of the last addition; the start of 1970 if there was none.
  public var addedAt: Date
  /// The seconds between scheduled runs.
  public var every: Int64?
  /// The secrets that are sent to the URL's origin.
  public var secrets: FeedSecrets
  /// The largest page in decoded bytes; nil for ``SyncLimits/pageBytesMax``.
  public var sizeLimit: Int64?
  /// The seconds within which a request must end; nil for the transport's limits.
  public var timeLimit: Int64?
  public var isPaused: Bool
  /// True if the feed was removed. The record stays, so that adding the feed again finds its
  /// records.
  public var isRemoved: Bool
  public var format: String?
  /// The validators, verbatim, stored only after the items that they cover.
  public var etag: String?
  public var lastModified: String?
  public var validatorsAt: Date?
  /// The URL that gave the validators, without the query item of a delta. They are sent to no
  /// other.
  public var validatorsURL: String?
  /// The seconds for which the document says that it stays fresh.
  public var timeToLive: Int64?
  /// The seconds after a run within which no request is needed, as the server or the document says,
  /// bounded; nil if neither says so.
  public var freshFor: Int64?
  /// The value of ``freshFor`` when the document itself came. A 304 may shorten it, but not extend
  /// it.
  public var promisedFor: Int64?
  public var bodyHash: Int64?
  public var epoch: String?
  public var checkpoint: String?
  public var version: Int64?
  public var fullAt: Date?
  /// The time of the last run that changed something.
  public var changedAt: Date?
  public var lastItems: Int64
  public var waitUntil: Date?
  /// The number of failed runs in a row.
  public var errors: Int64
  public var lastError: String?
  /// The text of the feed's own mapping, or the name of a built-in one; nil for the mapping that
  /// belongs to the document's format.
  public var mapping: String?
  /// The hash of the mapping that read the stored items; nil for homefeed/1.
  public var mappingHash: Int64?
  /// The members that identify the items, if that was chosen for the feed.
  public var identity: String?
  /// The HTTP status of the last failure.
  public var lastStatus: Int64?
  /// The time when the server answered that the feed is gone. It is paused since then.
  public var goneAt: Date?
  /// The target of the permanent redirects so far, their number, and the time of the first.
  public var movedTo: String?
  public var movedCount: Int64
  public var movedSince: Date?
  /// The URL that is requested instead, learned from permanent redirects.
  public var learnedURL: String?
  /// The failures in a row of the learned URL.
  public var learnedErrors: Int64
  /// True if the operator's host has had a public address. From then on its name may not lead into
  /// the private network: the owner of the name could choose a host there.
  public var hasPublicAddress: Bool
  /// True if the operator allows a private address all the same.
  public var allowsPrivateAddress: Bool

  public static let attributes: [EntityAttribute<Feed>] = [
    .init("url", \.url), .init("entity", \.entity), .init("title", \.title),
    .init("addedAt", \.addedAt), .init("every", \.every),
    .init("tokenFile", \.secrets.tokenFile),
    .init("isPaused", \.isPaused), .init("isRemoved", \.isRemoved), .init("format", \.format),
    .init("etag", \.etag), .init("lastModified", \.lastModified),
    .init("validatorsAt", \.validatorsAt), .init("bodyHash", \.bodyHash),
    .init("epoch", \.epoch), .init("checkpoint", \.checkpoint), .init("version", \.version),
    .init("fullAt", \.fullAt), .init("changedAt", \.changedAt), .init("lastItems", \.lastItems),
    .init("waitUntil", \.waitUntil), .init("errors", \.errors), .init("lastError", \.lastError),
    .init("mapping", \.mapping), .init("mappingHash", \.mappingHash),
    .init("identity", \.identity),
    .init("credential", \.secrets.credential), .init("validatorsURL", \.validatorsURL),
    .init("timeToLive", \.timeToLive), .init("freshFor", \.freshFor),
    .init("lastStatus", \.lastStatus), .init("goneAt", \.goneAt), .init("movedTo", \.movedTo),
    .init("movedCount", \.movedCount), .init("movedSince", \.movedSince),
    .init("learnedURL", \.learnedURL), .init("promisedFor", \.promisedFor),
    .init("learnedErrors", \.learnedErrors),
    .init("hasPublicAddress", \.hasPublicAddress),
    .init("allowsPrivateAddress", \.allowsPrivateAddress),
    .init("sizeLimit", \.sizeLimit), .init("timeLimit", \.timeLimit),
    .init("passwordSource", \.secrets.passwordSource),
    .init("headersSource", \.secrets.headersSource),
    .init("customTitle", \.customTitle), .init("folder", \.folder),
    .init("categories", \.categories),
  ]

  public init(from record: inout RecordReader) throws {
    url = try record["url"]
    entity = try record["entity"]
    title = try record["title"]
    addedAt = try record["addedAt"]
    every = try record["every"]
    let tokenFile: String? = try record["tokenFile"]
    isPaused = try record["isPaused"]
    isRemoved = try record["isRemoved"]
    format = try record["format"]
    etag = try record["etag"]
    lastModified = try record["lastModified"]
    validatorsAt = try record["validatorsAt"]
    bodyHash = try record["bodyHash"]
    epoch = try record["epoch"]
    checkpoint = try record["checkpoint"]
    version = try record["version"]
    fullAt = try record["fullAt"]
    changedAt = try record["changedAt"]
    lastItems = try record["lastItems"]
    waitUntil = try record["waitUntil"]
    errors = try record["errors"]
    lastError = try record["lastError"]
    mapping = try record["mapping"]
    mappingHash = try record["mappingHash"]
    identity = try record["identity"]
    let credential: String? = try record["credential"]
    validatorsURL = try record["validatorsURL"]
    timeToLive = try record["timeToLive"]
    freshFor = try record["freshFor"]
    lastStatus = try record["lastStatus"]
    goneAt = try record["goneAt"]
    movedTo = try record["movedTo"]
    movedCount = try record["movedCount"]
    movedSince = try record["movedSince"]
    learnedURL = try record["learnedURL"]
    promisedFor = try record["promisedFor"]
    learnedErrors = try record["learnedErrors"]
    do {
      hasPublicAddress = try record["hasPublicAddress"]
      allowsPrivateAddress = try record["allowsPrivateAddress"]
    } catch let error as StoreError where error.code == .unknownAttribute {
      // The store lacks system.feeds 0004: it can be read, and writing to it is refused.
      (hasPublicAddress, allowsPrivateAddress) = (false, false)
    }
    var password: String?
    var headers: String?
    do {
      sizeLimit = try record["sizeLimit"]
      timeLimit = try record["timeLimit"]
      password = try record["passwordSource"]
      headers = try record["headersSource"]
    } catch let error as StoreError where error.code == .unknownAttribute {
      // The store lacks system.feeds 0005: it can be read, and writing to it is refused.
      (sizeLimit, timeLimit, password, headers) = (nil, nil, nil, nil)
    }
    do {
      customTitle = try record["customTitle"]
      folder = try record["folder"]
      categories = try record["categories"]
    } catch let error as StoreError where error.code == .unknownAttribute {
      // The store lacks system.feeds 0006: it can be read, and writing to it is refused.
      (customTitle, folder, categories) = (nil, nil, nil)
    }
    secrets = FeedSecrets(
      tokenFile: tokenFile, credential: credential, passwordSource: password,
      headersSource: headers)
  }

  /// The time of the addition of a URL that is not a feed and has never been one.
  static let neverAdded = Date(timeIntervalSince1970: 0)

  init(url: String, entity: String, addedAt: Date) {
    self.url = url
    self.entity = entity
    self.addedAt = addedAt
    secrets = FeedSecrets()
    isPaused = false
    isRemoved = false
    lastItems = 0
    errors = 0
    movedCount = 0
    learnedErrors = 0
    hasPublicAddress = false
    allowsPrivateAddress = false
  }

  /// The title that readers show: the operator's, or that of the documents.
  public var shownTitle: String? { customTitle ?? title }

  /// The URL of requests: the learned one, or the operator's.
  public var requestURL: String { learnedURL ?? url }

  /// The host of requests in lower case; empty if the URL has none.
  public var host: String { WebURL.host(of: requestURL) ?? "" }

  /// True if the feed's host must have a public address.
  var requiresPublicAddress: Bool { hasPublicAddress && !allowsPrivateAddress }

  /// Returns true if the answer to a request for the URL shows that the operator's host has a
  /// public address.
  func isPublic(_ response: HTTPResponse, to url: String) -> Bool {
    guard response.isHostPublic, let host = WebURL.host(of: url) else { return false }
    return host == WebURL.host(of: self.url)
  }

  /// Clears the validators and the freshness, so that the next run fetches everything.
  mutating func forgetValidators() {
    etag = nil
    lastModified = nil
    validatorsAt = nil
    validatorsURL = nil
    bodyHash = nil
    timeToLive = nil
    freshFor = nil
    promisedFor = nil
  }

  /// Clears everything that depends on the stored items, so that the whole listing is read.
  mutating func forgetAnswers() {
    forgetValidators()
    forgetCheckpoint()
    fullAt = nil
  }

  /// The hash of the settings that decide which items a listing has and which entity they go to.
  var settingsHash: Int64 {
    // The first three are those of earlier versions: their interrupted runs are resumed.
    let parts = [entity, secrets.tokenFile ?? "", secrets.credential ?? ""]
    let more = [secrets.passwordSource, secrets.headersSource]
    let isExtended = more.contains { $0 != nil }
    return ContentHash.of(
      (parts + (isExtended ? more.map { $0 ?? "" } : [])).joined(separator: "\0"))
  }

  /// The feed's own mapping; nil if it has none.
  public var mappingText: FeedMappingText? {
    mapping.map { FeedMappingText($0, file: "the mapping of \(shownURL(url))") }
  }

  /// The mapping that reads the feed's documents: its own, or that of the last document's format;
  /// nil for homefeed/1 and before the first document.
  public var effectiveMapping: FeedMappingText? {
    let mapping =
      mappingText ?? format.flatMap(FeedFormat.init).flatMap(FeedMappings.builtInText)
    return mapping?.isHomeFeed == true ? nil : mapping
  }

  /// Clears the checkpoint. The epoch stays: it shows whether the revisions of the next listing can
  /// be compared.
  mutating func forgetCheckpoint() {
    checkpoint = nil
    version = nil
  }

  /// Clears the errors and waits, after an answer without fault.
  mutating func forgetErrors() {
    errors = 0
    learnedErrors = 0
    lastError = nil
    lastStatus = nil
    goneAt = nil
    waitUntil = nil
  }
}
