import FeedTestSupport
import Foundation
import Testing

@testable import FeedDocuments

/// The view against what an independent parser (feedparser) reads in the same documents.
@Suite struct FeedViewCorpusTests {
  @Test(.enabled(if: FeedCorpora.folder != nil, "needs ../shared/corpora beside the package"))
  func agreesWithAnIndependentParser() throws {
    try XMLCorpora.expectAgreement { document, expected in
      let read = try ReadView(document, contentType: expected.contentType, base: expected.base)
      if !expected.isIllFormed { #expect(read.view.isComplete, "\(expected.file)") }
      let items = read.items.map { item in
        CorpusFeed.Item(
          title: item["title"] as? String, id: item["id"] as? String, link: item["url"] as? String,
          published: item["date_published"] as? String, updated: item["date_modified"] as? String)
      }
      return (CorpusFeed(title: read["title"], items: items), expected.asRead)
    }
  }

  @Test(.enabled(if: FeedCorpora.folder != nil, "needs ../shared/corpora beside the package"))
  func everyCutOfRealFeedsEnds() throws {
    for expected in try FeedCorpora.expectations(of: "xml")
    where expected.isReal && expected.n > 0 {
      let bytes = try FeedCorpora.bytes(of: expected.file)
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
