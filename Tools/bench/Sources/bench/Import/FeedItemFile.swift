import Foundation
import GRDB

/// A cache file of newsboat with seeded items.
struct FeedItemFile {
  let rows: Int
  let seed: UInt64

  /// Writes the SQLite file.
  func write(to path: String) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.write { database in
      try database.execute(sql: Self.schema)
      let statement = try database.makeStatement(sql: Self.insertion)
      for chunk in chunks(of: 10_000) {
        for (number, item) in chunk {
          try statement.execute(arguments: [
            number, item.guid, item.title, item.author, item.link, item.feedURL,
            item.publishedAt.map { Int64($0.timeIntervalSince1970) } ?? 0, item.content,
            item.isUnread, item.enclosureURL, item.enclosureType, item.isEnqueued, item.flags,
            item.isDeleted, item.baseURL,
          ])
        }
      }
    }
    try queue.close()
  }

  /// Returns the items with their numbers, from 1. Each chunk is generated when it is requested.
  func chunks(of count: Int) -> some Sequence<[(number: Int, item: FeedItem)]> {
    var random = SeededRandom(seed: seed)
    var next = 1
    return AnySequence(
      AnyIterator {
        guard next <= rows else { return nil }
        let numbers = next..<min(next + count, rows + 1)
        next = numbers.upperBound
        return numbers.map { ($0, FeedItem(number: $0, &random)) }
      })
  }

  /// The schema that newsboat 2 creates.
  private static let schema = """
    CREATE TABLE rss_item (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, guid VARCHAR(64) NOT NULL,
      title VARCHAR(1024) NOT NULL, author VARCHAR(1024) NOT NULL, url VARCHAR(1024) NOT NULL,
      feedurl VARCHAR(1024) NOT NULL, pubDate INTEGER NOT NULL, content VARCHAR(65535) NOT NULL,
      unread INTEGER(1) NOT NULL, enclosure_url VARCHAR(1024), enclosure_type VARCHAR(1024),
      enqueued INTEGER(1) NOT NULL DEFAULT 0, flags VARCHAR(52),
      deleted INTEGER(1) NOT NULL DEFAULT 0, base VARCHAR(128) NOT NULL DEFAULT '');
    CREATE INDEX idx_guid ON rss_item(guid);
    CREATE INDEX idx_feedurl ON rss_item(feedurl);
    CREATE INDEX idx_deleted ON rss_item(deleted);
    """

  private static let insertion =
    "INSERT INTO rss_item VALUES (" + Array(repeating: "?", count: 15).joined(separator: ", ") + ")"
}
