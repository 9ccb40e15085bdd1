public import EntityStore
public import Foundation

/// The content of an episode, its authors, and the file that it is about, as its feed has them.
///
/// A type of its own, because a content may have megabytes, which a list of episodes does not read.
/// It fits the records of ``Episode`` from the migration `homefeed` 3 on, unless the store had an
/// attribute of one of these names and another type before: that one stays as it is, and
/// `mooring migrate up` names it. Then define a type with the attribute's own type instead.
public struct EpisodeContent: Entity, Identifiable, Hashable {
  public static let entityName = Episode.entityName

  /// The feed's id of the episode, unique within one feed.
  public var id: String
  /// The number of its feed; nil if it was created locally.
  public var feedID: Int64?
  /// The content as HTML, as the feed has it: nothing in it is made safe for a browser.
  public var contentHTML: String?
  public var contentText: String?
  /// The names of the authors.
  public var authors: [String]?
  /// The first enclosure: an audio or video file, for most feeds.
  public var mediaURL: URL?
  /// The media type that the feed declares for it, such as `audio/mpeg`.
  public var mediaType: String?
  /// The size that the feed declares for it.
  public var mediaBytes: Int64?
  public var image: URL?

  public static let attributes: [EntityAttribute<EpisodeContent>] = [
    .init("id", \.id), .init("feedID", \.feedID), .init("contentHTML", \.contentHTML),
    .init("contentText", \.contentText), .init("authors", \.authors),
    .init("mediaURL", \.mediaURL), .init("mediaType", \.mediaType),
    .init("mediaBytes", \.mediaBytes), .init("image", \.image),
  ]

  public init(from record: inout RecordReader) throws {
    id = try record["id"]
    feedID = try record["feedID"]
    contentHTML = try record["contentHTML"]
    contentText = try record["contentText"]
    authors = try record["authors"]
    mediaURL = try record["mediaURL"]
    mediaType = try record["mediaType"]
    mediaBytes = try record["mediaBytes"]
    image = try record["image"]
  }
}
