import Foundation
import Testing

@testable import FeedSync

/// The view against what an independent parser (feedparser) reads in the same documents.
@Suite struct FeedViewCorpusTests {
  @Test(.enabled(if: XMLCorpora.folder != nil, "needs ../shared/corpora beside the package"))
  func agreesWithAnIndependentParser() throws {
    var wellFormed = Agreement(), real = Agreement()
    var salvaged = (documents: 0, atLeast: 0)
    for expected in try XMLCorpora.expectations() {
      let read: ReadView
      do {
        read = try ReadView(
          try XMLCorpora.bytes(expected), contentType: expected.headers?["content-type"],
          base: expected.base)
      } catch let error as DocumentError {
        // Atom, RSS and RDF are feeds; AtomPub, CDF and the rest are not.
        #expect(
          XMLCorpora.noFeeds.contains { expected.file.contains($0) }, "\(expected.file): \(error)")
        continue
      }
      let isReal = XMLCorpora.realFolders.contains { expected.file.hasPrefix($0) }
      if expected.bozo {
        salvaged.documents += 1
        if read.items.count >= expected.n { salvaged.atLeast += 1 }
      } else {
        #expect(read.view.isComplete, "\(expected.file)")
        wellFormed.compare(read, expected)
      }
      if isReal { real.compare(read, expected) }
    }
    print("well-formed: \(wellFormed)\nreal: \(real)\nill-formed: \(salvaged)")
    #expect(wellFormed.documents >= 2_000 && real.documents >= 68)
    for (field, count) in wellFormed.counts {
      #expect(count.share >= 0.99, "\(field): \(count.disagreeing)")
    }
    for (field, count) in real.counts {
      #expect(count.disagreeing.isEmpty, "\(field)")
    }
    #expect(salvaged.atLeast == salvaged.documents)
  }

  @Test(.enabled(if: XMLCorpora.folder != nil, "needs ../shared/corpora beside the package"))
  func everyCutOfRealFeedsEnds() throws {
    for expected in try XMLCorpora.expectations()
    where XMLCorpora.realFolders.contains(where: { expected.file.hasPrefix($0) }) && expected.n > 0
    {
      let bytes = try XMLCorpora.bytes(expected)
      guard bytes.count < 60_000 else { continue }
      for part in 1..<8 {
        let cut = Array(bytes[..<(bytes.count * part / 8)])
        guard let read = try? ReadView(cut) else { continue }
        #expect(!read.view.isComplete, "\(expected.file), \(cut.count) bytes")
        #expect(read.items.count <= expected.n, "\(expected.file), \(cut.count) bytes")
      }
    }
  }
}

/// How many fields agree.
private struct Agreement: CustomStringConvertible {
  struct Count {
    var compared = 0
    var disagreeing: [String] = []
    var share: Double {
      compared == 0 ? 1 : 1 - Double(disagreeing.count) / Double(compared)
    }
  }

  private(set) var documents = 0
  private(set) var counts: [String: Count] = [:]

  mutating func compare(_ read: ReadView, _ expected: ExpectedXML) {
    documents += 1
    note("entries", read.items.count == expected.n, expected.file)
    note("feed title", read.root["title"], expected.feed.title, expected.file)
    for (item, entry) in zip(read.items, expected.entries) {
      note("title", item["title"], entry.title, expected.file)
      note("id", item["id"], entry.id, expected.file)
      note("date", Self.seconds(item["date_published"]), entry.published, expected.file)
      note("date", Self.seconds(item["date_modified"]), entry.updated, expected.file)
      // feedparser makes a link of any id, whether it can be opened or not.
      let isOnlyAnID =
        item["url"] == nil && entry.link == entry.id
        && entry.link.map { !URLReference.isWeb($0) } ?? false
      if !isOnlyAnID { note("link", item["url"], entry.link, expected.file) }
    }
  }

  /// Compares what at least one of the two has.
  private mutating func note(_ field: String, _ found: Any?, _ expected: String?, _ file: String) {
    let found = found as? String ?? "", expected = expected ?? ""
    guard !found.isEmpty || !expected.isEmpty else { return }
    note(field, Self.normal(found) == Self.normal(expected), file)
  }

  private mutating func note(_ field: String, _ agrees: Bool, _ file: String) {
    counts[field, default: Count()].compared += 1
    if !agrees, !XMLCorpora.isWrong(field, file) { counts[field]?.disagreeing.append(file) }
  }

  private static func seconds(_ date: Any?) -> String? {
    (date as? String).map { $0.contains(".") ? $0.prefix(19) + "Z" : $0 }
  }

  /// feedparser writes the tags of embedded markup anew: the attributes by name, `/>` where HTML has
  /// an empty element.
  private static func normal(_ text: String) -> String {
    guard text.contains("<") else { return text }
    return text.replacing(/<(\w+)((?:\s+[\w:\-]+="[^"]*")*)\s*\/?>/) { match in
      let attributes = match.2.matches(of: /[\w:\-]+="[^"]*"/).map { String($0.0) }.sorted()
      return "<\(match.1) \(attributes.joined(separator: " "))>"
    }
  }

  var description: String {
    let fields = counts.sorted { $0.key < $1.key }.map {
      "\($0.key) \($0.value.compared - $0.value.disagreeing.count)/\($0.value.compared)"
    }
    return "\(documents) documents, " + fields.joined(separator: ", ")
  }
}

private struct ExpectedXML: Decodable {
  struct Feed: Decodable {
    var title: String?
  }

  struct Entry: Decodable {
    var id, link, title, published, updated: String?
  }

  var file: String
  var kind: String
  var bozo: Bool
  var feed: Feed
  var n: Int
  var entries: [Entry]
  var headers: [String: String]?
  var baseURL: String?

  enum CodingKeys: String, CodingKey {
    case file, kind, bozo, feed, n, entries, headers
    case baseURL = "base_url"
  }

  /// Where the document came from, or says that it did.
  var base: String? {
    guard let location = headers?["content-location"] else { return baseURL }
    return URLReference.resolve(location, base: baseURL ?? "")
  }
}

/// Feeds and what another parser reads in them; they lie outside the package.
private enum XMLCorpora {
  static let realFolders = ["feed-rs/", "netnewswire/", "feedbin/", "miniflux/", "newsboat/"]

  /// Documents that are no RSS, RDF or Atom feed, by parts of their paths.
  static let noFeeds = [
    "/cdf/", "/ext/app/", "/xrd/", "unknown_feed.xml", "rss_empty_document.xml",
    "xml/xml_iso8859.xml", "xml_sample_2.xml", "newsboat/xml/empty.xml", "testdata/iso88591.xml",
  ]

  /// Where feedparser is wrong.
  static func isWrong(_ field: String, _ file: String) -> Bool {
    switch (field, file) {
    // 2020/1/10 14:33:00 is no day in November.
    case ("date", "netnewswire/xml/kc0011.rss"): true
    // The prolog says windows-1252, the bytes are UTF-8, and the title is "Euro €".
    case ("feed title", "miniflux/encoding/encoding/testdata/windows-1252-incorrect-prolog.xml"):
      true
    default: false
    }
  }

  static func expectations() throws -> [ExpectedXML] {
    let file = try #require(folder).appending(path: "expected.jsonl")
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .filter { $0.contains(#""kind": "xml""#) }
      .map { try JSONDecoder().decode(ExpectedXML.self, from: Data($0.utf8)) }
  }

  static func bytes(_ expected: ExpectedXML) throws -> [UInt8] {
    Array(try Data(contentsOf: try #require(folder).appending(path: expected.file)))
  }

  static var folder: URL? {
    var package = URL(filePath: #filePath)
    for _ in 0..<4 { package.deleteLastPathComponent() }
    let shared =
      ProcessInfo.processInfo.environment["MOORING_SHARED"].map { URL(filePath: $0) }
      ?? package.deletingLastPathComponent().appending(path: "shared")
    let folder = shared.appending(path: "corpora")
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }
}
