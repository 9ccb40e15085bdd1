import EntityModel
public import EntityStore
public import Foundation

/// One episode of the home feed.
///
/// The user owns `favoriteAt`, `watchLaterAt`, `watchedAt` and `progress`, which a sync keeps. The
/// feed owns all other attributes. What can be large is in ``EpisodeContent``.
public struct Episode: Entity, Identifiable, Hashable {
  /// The feed's id of the episode, unique within one feed.
  public var id: String
  public var title: String?
  public var summary: String?
  public var type: EpisodeType?
  /// The duration in seconds.
  public var duration: Int64?
  public var url: URL?
  /// The id of its learning path.
  public var pathID: String?
  /// The position in the learning path, from 1.
  public var position: Int64?
  public var publishedAt: Date?
  public var updatedAt: Date?
  public var favoriteAt: Date?
  public var watchLaterAt: Date?
  public var watchedAt: Date?
  /// The share that has been watched, from 0 to 1.
  public var progress: Double
  /// The number of its feed; nil if it was created locally.
  public var feedID: Int64?

  public static let attributes: [EntityAttribute<Episode>] = [
    .init("id", \.id), .init("title", \.title), .init("summary", \.summary),
    .init("type", \.type), .init("duration", \.duration), .init("url", \.url),
    .init("pathID", \.pathID), .init("position", \.position),
    .init("publishedAt", \.publishedAt), .init("updatedAt", \.updatedAt),
    .init("favoriteAt", \.favoriteAt), .init("watchLaterAt", \.watchLaterAt),
    .init("watchedAt", \.watchedAt), .init("progress", \.progress), .init("feedID", \.feedID),
  ]

  public init(from record: inout RecordReader) throws {
    id = try record["id"]
    title = try record["title"]
    summary = try record["summary"]
    type = try record["type"]
    duration = try record["duration"]
    url = try record["url"]
    pathID = try record["pathID"]
    position = try record["position"]
    publishedAt = try record["publishedAt"]
    updatedAt = try record["updatedAt"]
    favoriteAt = try record["favoriteAt"]
    watchLaterAt = try record["watchLaterAt"]
    watchedAt = try record["watchedAt"]
    progress = try record["progress"]
    feedID = try record["feedID"]
  }

  /// Creates an episode that belongs to no feed.
  public init(id: String, title: String? = nil) {
    self.id = id
    self.title = title
    progress = 0
  }
}

/// The access to an episode. Unknown numbers are preserved.
public struct EpisodeType: RawRepresentable, AttributeValue, Codable, Hashable {
  public var rawValue: Int64

  public init(rawValue: Int64) { self.rawValue = rawValue }

  public static let free = EpisodeType(rawValue: 1)
  public static let members = EpisodeType(rawValue: 2)
  public static let preview = EpisodeType(rawValue: 3)
}
