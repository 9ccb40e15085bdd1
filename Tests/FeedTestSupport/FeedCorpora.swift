package import Foundation

/// Feeds of other publishers, with the output of independent readers. They are outside the package.
package enum FeedCorpora {
  package static let folder: URL? = {
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let shared =
      ProcessInfo.processInfo.environment["MOORING_SHARED"].map { URL(filePath: $0) }
      ?? package.deletingLastPathComponent().appending(path: "shared")
    let folder = shared.appending(path: "corpora")
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }()

  package static func lines(of name: String) throws -> [Data] {
    guard let folder else { return [] }
    return try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      .split(separator: "\n").map { Data($0.utf8) }
  }

  package static func bytes(of file: String) throws -> [UInt8] {
    guard let folder else { return [] }
    return Array(try Data(contentsOf: folder.appending(path: file)))
  }

  /// Returns the files below folders of the corpora, by path.
  package static func files(in folders: [String], ending: String) throws -> [String] {
    guard let folder else { return [] }
    return try folders.flatMap { name in
      try FileManager.default.subpathsOfDirectory(atPath: folder.appending(path: name).path)
        .filter { $0.hasSuffix(ending) }.sorted().map { "\(name)/\($0)" }
    }
  }

  /// Returns the expectations for the documents of a kind: `xml` or `jsonfeed`.
  package static func expectations(of kind: String) throws -> [ExpectedFeed] {
    try lines(of: "expected.jsonl").compactMap { line in
      // The lines of other kinds have other members.
      guard line.range(of: Data("\"kind\": \"\(kind)\"".utf8)) != nil else { return nil }
      return try JSONDecoder().decode(ExpectedFeed.self, from: line).withTimesOfItsSuite
    }
  }
}

/// A document and what an independent parser reads in it: feedparser where it is XML.
package struct ExpectedFeed: Decodable {
  package struct Feed: Decodable {
    package var title: String?
  }

  package struct Entry: Decodable {
    package var id, link, title, published, updated: String?
  }

  /// The expectations in the tests of the document's own project.
  package struct Suite: Decodable {
    package var entries: [Entry]?
  }

  package var file: String
  package var kind: String
  package var bozo: Bool?
  package var feed: Feed
  package var n: Int
  package var entries: [Entry]
  package var suite: Suite?
  package var headers: [String: String]?
  package var baseURL: String?

  package enum CodingKeys: String, CodingKey {
    case file, kind, bozo, feed, n, entries, suite, headers
    case baseURL = "base_url"
  }

  /// True if the document breaks the rules of XML.
  package var isIllFormed: Bool { bozo == true }

  /// The expectation with the times of the document's own suite where a JSON Feed has some that are
  /// not in RFC 3339: the independent parser reads no others.
  fileprivate var withTimesOfItsSuite: ExpectedFeed {
    guard kind == "jsonfeed", let known = suite?.entries, known.count == entries.count else {
      return self
    }
    var filled = self
    for (index, entry) in known.enumerated() {
      filled.entries[index].published = entries[index].published ?? entry.published
      filled.entries[index].updated = entries[index].updated ?? entry.updated
    }
    return filled
  }

  package var contentType: String? { headers?["content-type"] }

  /// The URL that the document came from, or that it names itself.
  package var base: String? {
    guard let location = headers?["content-location"] else { return baseURL }
    return URL(string: location, relativeTo: baseURL.flatMap { URL(string: $0) })?.absoluteString
  }

  /// True for the real feed of a publisher, false for a test of one element.
  package var isReal: Bool {
    ["feed-rs/", "netnewswire/", "feedbin/", "miniflux/", "newsboat/"].contains {
      file.hasPrefix($0)
    }
  }
}
