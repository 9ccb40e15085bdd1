import Foundation

@testable import FeedSync

/// Documents of others and what independent readers make of them; they lie outside the package.
enum FeedCorpora {
  static let folder: URL? = {
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let shared =
      ProcessInfo.processInfo.environment["MOORING_SHARED"].map { URL(filePath: $0) }
      ?? package.deletingLastPathComponent().appending(path: "shared")
    let folder = shared.appending(path: "corpora")
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }()

  static func lines(of name: String) throws -> [Data] {
    guard let folder else { return [] }
    return try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      .split(separator: "\n").map { Data($0.utf8) }
  }

  static func bytes(of file: String) throws -> [UInt8] {
    guard let folder else { return [] }
    return Array(try Data(contentsOf: folder.appending(path: file)))
  }

  /// What is expected of the documents of a kind: `xml`, `jsonfeed`.
  static func expectations(of kind: String) throws -> [ExpectedFeed] {
    try lines(of: "expected.jsonl").compactMap { line in
      // The lines of other kinds have other members.
      guard line.range(of: Data("\"kind\": \"\(kind)\"".utf8)) != nil else { return nil }
      return try JSONDecoder().decode(ExpectedFeed.self, from: line)
    }
  }
}

/// What a reader makes of a feed, as far as readers can be compared.
struct CorpusFeed {
  struct Item {
    var title, id, link, published, updated: String?
  }

  var title: String?
  var items: [Item]
}

/// A document and what an independent parser reads in it: feedparser where it is XML.
struct ExpectedFeed: Decodable {
  struct Feed: Decodable {
    var title: String?
  }

  struct Entry: Decodable {
    var id, link, title, published, updated: String?
  }

  var file: String
  var kind: String
  var bozo: Bool?
  var feed: Feed
  var n: Int
  var entries: [Entry]
  var headers: [String: String]?
  var baseURL: String?

  enum CodingKeys: String, CodingKey {
    case file, kind, bozo, feed, n, entries, headers
    case baseURL = "base_url"
  }

  /// Whether the document breaks the rules of XML.
  var isIllFormed: Bool { bozo == true }

  var contentType: String? { headers?["content-type"] }

  /// Where the document came from, or says that it did.
  var base: String? {
    guard let location = headers?["content-location"] else { return baseURL }
    return URLReference.resolve(location, base: baseURL ?? "")
  }

  /// Whether it is a whole feed of somebody's, not a test of one element.
  var isReal: Bool {
    ["feed-rs/", "netnewswire/", "feedbin/", "miniflux/", "newsboat/"].contains {
      file.hasPrefix($0)
    }
  }

  var asRead: CorpusFeed {
    CorpusFeed(
      title: feed.title,
      items: entries.map {
        .init(
          title: $0.title, id: $0.id, link: $0.link, published: $0.published, updated: $0.updated)
      })
  }
}
