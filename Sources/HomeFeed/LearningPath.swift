import EntityModel
public import EntityStore
public import Foundation

/// A sequence of episodes, which refer to it by `Episode.pathID`.
public struct LearningPath: Entity, Identifiable, Hashable {
  /// The feed's id of the path, unique within one feed.
  public var id: String
  public var title: String?
  public var summary: String?
  public var url: URL?
  /// The position on the home page.
  public var position: Int64?
  public var updatedAt: Date?
  /// The number of its feed; nil if it was created locally.
  public var feedID: Int64?

  public static let attributes: [EntityAttribute<LearningPath>] = [
    .init("id", \.id), .init("title", \.title), .init("summary", \.summary), .init("url", \.url),
    .init("position", \.position), .init("updatedAt", \.updatedAt), .init("feedID", \.feedID),
  ]

  public init(from record: inout RecordReader) throws {
    id = try record["id"]
    title = try record["title"]
    summary = try record["summary"]
    url = try record["url"]
    position = try record["position"]
    updatedAt = try record["updatedAt"]
    feedID = try record["feedID"]
  }

  public init(id: String, title: String? = nil) {
    self.id = id
    self.title = title
  }
}
