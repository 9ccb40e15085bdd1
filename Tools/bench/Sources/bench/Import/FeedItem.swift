import Foundation
import Mooring

/// A row of newsboat's table `rss_item`, and the record that an import creates from it.
struct FeedItem: Entity, Equatable {
  static let entityName = "Item"

  var guid: String
  var title: String
  var author: String
  var link: String
  var feedURL: String
  /// A time in whole seconds, as newsboat stores it.
  var publishedAt: Date?
  var content: String
  var isUnread: Bool
  var enclosureURL: String?
  var enclosureType: String?
  var isEnqueued: Bool
  var flags: String?
  var isDeleted: Bool
  var baseURL: String

  static let attributes: [EntityAttribute<FeedItem>] = [
    .init("guid", \.guid), .init("title", \.title), .init("author", \.author),
    .init("link", \.link), .init("feedURL", \.feedURL), .init("publishedAt", \.publishedAt),
    .init("content", \.content), .init("isUnread", \.isUnread),
    .init("enclosureURL", \.enclosureURL), .init("enclosureType", \.enclosureType),
    .init("isEnqueued", \.isEnqueued), .init("flags", \.flags), .init("isDeleted", \.isDeleted),
    .init("baseURL", \.baseURL),
  ]

  init(from record: inout RecordReader) throws {
    guid = try record["guid"]
    title = try record["title"]
    author = try record["author"]
    link = try record["link"]
    feedURL = try record["feedURL"]
    publishedAt = try record["publishedAt"]
    content = try record["content"]
    isUnread = try record["isUnread"]
    enclosureURL = try record["enclosureURL"]
    enclosureType = try record["enclosureType"]
    isEnqueued = try record["isEnqueued"]
    flags = try record["flags"]
    isDeleted = try record["isDeleted"]
    baseURL = try record["baseURL"]
  }
}

extension FeedItem {
  /// Generates a row of about 1.3 KB, of which the content is 1 KB. Some texts are not ASCII.
  init(number: Int, _ random: inout SeededRandom) {
    let feed = Int.random(in: 0..<200, using: &random)
    let hasEnclosure = Int.random(in: 0..<10, using: &random) == 0
    guid = "tag:feed\(feed).example,2026:" + String(random.next(), radix: 16)
    title = FeedItem.text(bytes: 30...80, &random) + " №\(number)"
    author = FeedItem.text(bytes: 6...20, &random)
    link = "https://feed\(feed).example/2026/" + String(random.next(), radix: 36) + ".html"
    feedURL = "https://feed\(feed).example/rss.xml"
    publishedAt = Date(
      timeIntervalSince1970: Double(1_500_000_000 + Int.random(in: 0..<250_000_000, using: &random))
    )
    content = FeedItem.text(bytes: 500...1_500, &random) + " · …"
    isUnread = Int.random(in: 0..<3, using: &random) > 0
    enclosureURL = hasEnclosure ? "https://cdn.example/\(number).mp3" : nil
    enclosureType = hasEnclosure ? "audio/mpeg" : nil
    isEnqueued = hasEnclosure && Bool.random(using: &random)
    flags = Int.random(in: 0..<20, using: &random) == 0 ? "ab" : nil
    isDeleted = Int.random(in: 0..<50, using: &random) == 0
    baseURL = ""
  }

  private static func text(bytes: ClosedRange<Int>, _ random: inout SeededRandom) -> String {
    let count = Int.random(in: bytes, using: &random)
    return String(unsafeUninitializedCapacity: count) { buffer in
      // SAFETY: the buffer has room for `count` bytes, and each of them is written.
      var bits: UInt64 = 0
      for place in 0..<count {
        if place % 12 == 0 { bits = random.next() }
        let letter = UInt8(bits & 31)
        bits >>= 5
        buffer[place] = letter < 26 ? 97 + letter : 32
      }
      return count
    }
  }

  /// The migration that creates the entity, with the three indexes that newsboat has.
  static let migration = """
    line: bench
    summary: The items of newsboat
    steps:
      - createEntity:
          name: Item
          attributes:
            - { name: guid, type: string }
            - { name: title, type: string }
            - { name: author, type: string }
            - { name: link, type: string }
            - { name: feedURL, type: string }
            - { name: publishedAt, type: date, optional: true }
            - { name: content, type: string }
            - { name: isUnread, type: bool }
            - { name: enclosureURL, type: string, optional: true }
            - { name: enclosureType, type: string, optional: true }
            - { name: isEnqueued, type: bool }
            - { name: flags, type: string, optional: true }
            - { name: isDeleted, type: bool }
            - { name: baseURL, type: string }
      - createIndex: { on: Item, name: byGUID, keys: [guid] }
      - createIndex: { on: Item, name: byFeed, keys: [feedURL] }
      - createIndex: { on: Item, name: byDeleted, keys: [isDeleted] }
    """

  static let mapping = """
    import: newsboat
    dialect: plain
    entities:
      - entity: Item
        table: rss_item
        key: [id]
        attributes:
          guid: guid
          title: title
          author: author
          link: url
          feedURL: feedurl
          publishedAt: { column: pubDate, date: wrappedUnixSeconds, nullValues: ["0"] }
          content: content
          isUnread: unread
          enclosureURL: enclosure_url
          enclosureType: enclosure_type
          isEnqueued: enqueued
          flags: flags
          isDeleted: deleted
          baseURL: base
    """
}
