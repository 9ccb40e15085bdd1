public import EntityStore
public import Foundation

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
  public var isPaused: Bool
  /// Kept, so that adding it again finds its records.
  public var isRemoved: Bool
  public var format: String?
  /// Validators exactly as the server gave them, stored only after the data they stand for.
  public var etag: String?
  public var lastModified: String?
  public var validatorsAt: Date?
  public var bodyHash: Int64?
  public var epoch: String?
  public var checkpoint: String?
  public var version: Int64?
  public var fullAt: Date?
  /// When a run last changed something.
  public var changedAt: Date?
  public var lastItems: Int64
  public var waitUntil: Date?
  public var errors: Int64
  public var lastError: String?

  public static let attributes: [EntityAttribute<Feed>] = [
    .init("url", \.url), .init("entity", \.entity), .init("title", \.title),
    .init("addedAt", \.addedAt), .init("every", \.every), .init("tokenFile", \.tokenFile),
    .init("isPaused", \.isPaused), .init("isRemoved", \.isRemoved), .init("format", \.format),
    .init("etag", \.etag), .init("lastModified", \.lastModified),
    .init("validatorsAt", \.validatorsAt), .init("bodyHash", \.bodyHash),
    .init("epoch", \.epoch), .init("checkpoint", \.checkpoint), .init("version", \.version),
    .init("fullAt", \.fullAt), .init("changedAt", \.changedAt), .init("lastItems", \.lastItems),
    .init("waitUntil", \.waitUntil), .init("errors", \.errors), .init("lastError", \.lastError),
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
  }

  init(url: String, entity: String, addedAt: Date) {
    self.url = url
    self.entity = entity
    self.addedAt = addedAt
    isPaused = false
    isRemoved = false
    lastItems = 0
    errors = 0
  }

  /// Forgets what the next request would be conditional on, so that everything is fetched anew.
  mutating func forgetValidators() {
    etag = nil
    lastModified = nil
    validatorsAt = nil
    bodyHash = nil
  }

  /// The epoch stays: by it the next listing tells whether revisions can be compared.
  mutating func forgetCheckpoint() {
    checkpoint = nil
    version = nil
  }
}
