public import EntityStore
public import FeedDocuments
public import Foundation
import HTTPClient

/// A feed as the store keeps it: where it is, what the next request depends on, how it fares.
public struct Feed: Entity, Equatable {
  public static let entityName = "_Feed"

  /// As it was typed; the identity of the feed.
  public var url: String
  /// Where items go that name no kind of their own.
  public var entity: String
  public var title: String?
  public var addedAt: Date
  /// Seconds between scheduled runs.
  public var every: Int64?
  /// A file whose first line is sent as a bearer token.
  public var tokenFile: String?
  /// The name of a systemd credential that is sent as a bearer token.
  public var credential: String?
  public var isPaused: Bool
  /// Kept, so that adding it again finds its records.
  public var isRemoved: Bool
  public var format: String?
  /// Validators exactly as the server gave them, stored only after the data they stand for.
  public var etag: String?
  public var lastModified: String?
  public var validatorsAt: Date?
  /// The URL that gave them, without the part of a delta; they are sent to no other.
  public var validatorsURL: String?
  /// Seconds for which the document says that it stays good.
  public var timeToLive: Int64?
  /// Seconds after a run within which nobody need ask again, as the server or the document says,
  /// bounded; nil when nothing was promised.
  public var freshFor: Int64?
  /// What ``freshFor`` was when the document itself came: a 304 may promise less, but not more.
  public var promisedFor: Int64?
  public var bodyHash: Int64?
  public var epoch: String?
  public var checkpoint: String?
  public var version: Int64?
  public var fullAt: Date?
  /// When a run last changed something.
  public var changedAt: Date?
  public var lastItems: Int64
  public var waitUntil: Date?
  /// Runs in a row that failed.
  public var errors: Int64
  public var lastError: String?
  /// The text of the mapping that was given, or the name of a built-in one; `nil` for the one that
  /// the format of a document asks for.
  public var mapping: String?
  /// Of the mapping that read what is stored; `nil` for homefeed/1.
  public var mappingHash: Int64?
  /// How the items are told apart, where that was chosen for the whole feed.
  public var identity: String?
  /// The status of the last failure, if it was one.
  public var lastStatus: Int64?
  /// When the server said that the feed is gone for good. It is paused since then.
  public var goneAt: Date?
  /// Where permanent redirects have led each time, how often, and since when.
  public var movedTo: String?
  public var movedCount: Int64
  public var movedSince: Date?
  /// The URL that is asked instead, learned from permanent redirects.
  public var learnedURL: String?
  /// Answers of the learned URL, since the last good one, that speak against it.
  public var learnedErrors: Int64

  public static let attributes: [EntityAttribute<Feed>] = [
    .init("url", \.url), .init("entity", \.entity), .init("title", \.title),
    .init("addedAt", \.addedAt), .init("every", \.every), .init("tokenFile", \.tokenFile),
    .init("isPaused", \.isPaused), .init("isRemoved", \.isRemoved), .init("format", \.format),
    .init("etag", \.etag), .init("lastModified", \.lastModified),
    .init("validatorsAt", \.validatorsAt), .init("bodyHash", \.bodyHash),
    .init("epoch", \.epoch), .init("checkpoint", \.checkpoint), .init("version", \.version),
    .init("fullAt", \.fullAt), .init("changedAt", \.changedAt), .init("lastItems", \.lastItems),
    .init("waitUntil", \.waitUntil), .init("errors", \.errors), .init("lastError", \.lastError),
    .init("mapping", \.mapping), .init("mappingHash", \.mappingHash),
    .init("identity", \.identity),
    .init("credential", \.credential), .init("validatorsURL", \.validatorsURL),
    .init("timeToLive", \.timeToLive), .init("freshFor", \.freshFor),
    .init("lastStatus", \.lastStatus), .init("goneAt", \.goneAt), .init("movedTo", \.movedTo),
    .init("movedCount", \.movedCount), .init("movedSince", \.movedSince),
    .init("learnedURL", \.learnedURL), .init("promisedFor", \.promisedFor),
    .init("learnedErrors", \.learnedErrors),
  ]

  public init(from record: inout RecordReader) throws {
    url = try record["url"]
    entity = try record["entity"]
    title = try record["title"]
    addedAt = try record["addedAt"]
    every = try record["every"]
    tokenFile = try record["tokenFile"]
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
    credential = try record["credential"]
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
  }

  init(url: String, entity: String, addedAt: Date) {
    self.url = url
    self.entity = entity
    self.addedAt = addedAt
    isPaused = false
    isRemoved = false
    lastItems = 0
    errors = 0
    movedCount = 0
    learnedErrors = 0
  }

  /// The URL that is asked: the learned one, or the one that was typed.
  public var requestURL: String { learnedURL ?? url }

  /// The host that is asked, in lower case; empty when the URL has none.
  public var host: String { WebURL.host(of: requestURL) ?? "" }

  /// Forgets what the next request would be conditional on, and for how long the last answer is
  /// good, so that everything is fetched anew.
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

  /// Forgets all that says which of the feed's items are stored, so that the whole listing is read.
  mutating func forgetAnswers() {
    forgetValidators()
    forgetCheckpoint()
    fullAt = nil
  }

  /// Of what decides which items a listing has, and where they go.
  var settingsHash: Int64 {
    ContentHash.of([entity, tokenFile ?? "", credential ?? ""].joined(separator: "\0"))
  }

  /// What the feed's documents are read by; `nil` if that was not said.
  public var mappingText: FeedMappingText? {
    mapping.map { FeedMappingText($0, file: "the mapping of \(shownURL(url))") }
  }

  /// What the feed's documents are read by: what was given, or what the format of the last one asks
  /// for; `nil` for homefeed/1, and before the first document.
  public var effectiveMapping: FeedMappingText? {
    let mapping =
      mappingText ?? format.flatMap(FeedFormat.init).flatMap(FeedMappings.builtInText)
    return mapping?.isHomeFeed == true ? nil : mapping
  }

  /// The epoch stays: by it the next listing tells whether revisions can be compared.
  mutating func forgetCheckpoint() {
    checkpoint = nil
    version = nil
  }
}
