import FeedTestSupport
import Foundation
import Testing

@testable import FeedDocuments

/// Documents in XML with the output of another parser. They are outside the package.
enum XMLCorpora {
  /// Documents that are no RSS, RDF or Atom feed, by parts of their paths.
  private static let noFeeds = [
    "/cdf/", "/ext/app/", "/xrd/", "unknown_feed.xml", "rss_empty_document.xml",
    "xml_sample_2.xml", "newsboat/xml/empty.xml", "testdata/iso88591.xml",
  ]

  /// Reads every document and expects that well-formed ones agree almost always, real feeds always,
  /// and that of ill-formed ones no item is lost.
  ///
  /// - Parameter read: Returns the feed found in the document and the expected one.
  static func expectAgreement(
    _ read: ([UInt8], ExpectedFeed) throws -> (found: CorpusFeed, expected: CorpusFeed)
  ) throws {
    var wellFormed = Agreement(), real = Agreement()
    var salvaged = (documents: 0, atLeast: 0)
    for expected in try FeedCorpora.expectations(of: "xml") {
      let pair: (found: CorpusFeed, expected: CorpusFeed)
      do {
        pair = try read(try FeedCorpora.bytes(of: expected.file), expected)
      } catch let error as DocumentError {
        // Atom, RSS and RDF are feeds; AtomPub, CDF and the rest are not.
        #expect(noFeeds.contains { expected.file.contains($0) }, "\(expected.file): \(error)")
        continue
      }
      if expected.isIllFormed {
        salvaged.documents += 1
        if pair.found.items.count >= pair.expected.items.count { salvaged.atLeast += 1 }
      } else {
        wellFormed.compare(pair.found, pair.expected, expected.file)
      }
      if expected.isReal { real.compare(pair.found, pair.expected, expected.file) }
    }
    print("well-formed: \(wellFormed)\nreal: \(real)\nill-formed: \(salvaged)")
    #expect(wellFormed.documents >= 2_000 && real.documents >= 68)
    for (field, count) in wellFormed.counts {
      #expect(count.share >= 0.99, "\(field): \(count.disagreeing)")
    }
    for (field, count) in real.counts {
      #expect(count.disagreeing.isEmpty, "\(field): \(count.disagreeing)")
    }
    #expect(salvaged.atLeast == salvaged.documents)
  }
}

/// Counts of the fields that agree.
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

  mutating func compare(_ found: CorpusFeed, _ expected: CorpusFeed, _ file: String) {
    documents += 1
    note("entries", found.items.count == expected.items.count, file)
    note("feed title", found.title, expected.title, file)
    for (item, entry) in zip(found.items, expected.items) {
      note("title", item.title, entry.title, file)
      note("id", item.id, entry.id, file)
      note("date", item.published.map(Self.seconds), entry.published, file)
      note("date", item.updated.map(Self.seconds), entry.updated, file)
      // feedparser makes a link of any id, whether it can be opened or not.
      let isOnlyAnID =
        item.link == nil && entry.link == entry.id
        && entry.link.map { !URLReference.isWeb($0) } ?? false
      if !isOnlyAnID { note("link", item.link, entry.link, file) }
    }
  }

  /// Compares what at least one of the two has.
  private mutating func note(
    _ field: String, _ found: String?, _ expected: String?, _ file: String
  ) {
    let found = found ?? "", expected = expected ?? ""
    guard !found.isEmpty || !expected.isEmpty else { return }
    note(field, Self.normal(found) == Self.normal(expected), file)
  }

  private mutating func note(_ field: String, _ agrees: Bool, _ file: String) {
    counts[field, default: Count()].compared += 1
    if !agrees, !Self.isWrong(field, file) { counts[field]?.disagreeing.append(file) }
  }

  /// Returns true for fields that feedparser reads wrongly.
  private static func isWrong(_ field: String, _ file: String) -> Bool {
    switch (field, file) {
    // 2020/1/10 14:33:00 is no day in November.
    case ("date", "netnewswire/xml/kc0011.rss"): true
    // "Sat, Dec 16 2023 02:02:33 PM" is 14:02:33.
    case ("date", "feed-rs/rss2/rss2/rss_2.0_nbcny.xml"): true
    // The prolog says windows-1252, the bytes are UTF-8, and the title is "Euro €".
    case ("feed title", "miniflux/encoding/encoding/testdata/windows-1252-incorrect-prolog.xml"):
      true
    default: false
    }
  }

  private static func seconds(_ date: String) -> String {
    date.contains(".") ? date.prefix(19) + "Z" : date
  }

  /// Rewrites tags of embedded markup as feedparser does: the attributes by name, `/>` where HTML
  /// has an empty element.
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

/// A feed as a reader sees it, as far as readers can be compared.
struct CorpusFeed {
  struct Item {
    var title, id, link, published, updated: String?
  }

  var title: String?
  var items: [Item]
}

extension ExpectedFeed {
  var asRead: CorpusFeed {
    CorpusFeed(
      title: feed.title,
      items: entries.map {
        .init(
          title: $0.title, id: $0.id, link: $0.link, published: $0.published, updated: $0.updated)
      })
  }
}
