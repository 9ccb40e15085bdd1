import EntityStore
import FeedDocuments
import HTTPClient

/// What a listing must not do, at any page.
extension RunFrontier {
  /// The same page again, under whatever name, means that the listing never ends.
  mutating func noteListing(_ page: FeedPage) throws {
    let asked = ContentHash.of(next)
    let listing = page.listingHash
    if visited.contains(asked)
      || !page.items.isEmpty && listings.contains(listing)
    {
      throw SyncError(
        .repeatedPage, "the feed lists the same page again",
        [("url", shownURL(next)), ("page", String(pages + 1))],
        advice: "tell the feed's publisher; what was read before is kept", endsListing: true)
    }
    visited.insert(asked)
    listings.insert(listing)
    if pages == 0 { firstListing = listing }
    guard pages < Limits.pagesPerRunMax, report.items < Limits.itemsPerRunMax
    else {
      throw SyncError(
        .tooManyPages, "the feed does not end",
        [("pages", String(pages)), ("items", String(report.items))],
        advice: "tell the feed's publisher; what was read before is kept", endsListing: true)
    }
  }

  /// Holds both the page and the run so far against the limit: pages may be small.
  func checkRejections(_ page: FeedPage, rejected: Int, of total: Int) throws {
    let run = (rejected: report.rejected, total: listed)
    for (rejected, total) in [(rejected, total), (run.rejected, run.total)]
    where rejected >= Limits.rejectedCountMin
      && Double(rejected) > Limits.rejectedShareMax * Double(total)
    {
      let example =
        page.rejected.first.map { ($0.id, $0.reason.description) }
        ?? report.rejections.last.map { ($0.id, $0.reason) }
      throw SyncError(
        .tooManyRejected, "too many items cannot be used",
        [
          ("rejected", "\(rejected) of \(total)"),
          ("for example", "\(example?.0 ?? "?"): \(example?.1 ?? "?")"),
        ], advice: "nothing of this page was stored")
    }
  }

  /// A delta may be empty; a feed that had items and has none is more likely broken.
  func checkThatItemsAreLeft(
    _ page: FeedPage, rejected: Int, of total: Int, before lastItems: Int64
  ) throws {
    if pages == 0, rejected == total, page.mode != .delta, lastItems > 0 {
      throw SyncError(
        .emptied, "the feed lists no items though it had some",
        [("it had", String(lastItems))],
        advice: "if it is meant, run `mooring sync --full --allow-deletions`")
    }
  }
}

extension FeedPage {
  /// Of the ids that it lists.
  var listingHash: Int64 { ContentHash.of(items.map(\.id).joined(separator: "\0")) }
}
