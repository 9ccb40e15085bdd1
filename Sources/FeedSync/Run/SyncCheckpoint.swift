import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import HTTPClient

/// The position of a run that can be resumed, committed with the rows of its pages.
///
/// The names of its properties are stored, as JSON. A checkpoint of an earlier version of the
/// program must stay readable.
struct SyncCheckpoint: Codable, Sendable {
  /// `full`, `delta` or `window`; empty before the first page.
  var mode: String
  /// The start of the run, in seconds since 1970.
  var startedAt: Double
  /// The feed's checkpoint that the run began with; nil if it began with the feed's own URL.
  var beganWith: String?
  /// The URL of the next page.
  var next: String
  /// The hash of the feed's settings at the start: other settings mean another listing.
  var settings: Int64?
  var pages = 0
  /// The version and epoch that all pages of one listing share.
  var version: Int64?
  var epoch: String?
  /// False if pages showed different states of the listing.
  var isPinned = true
  /// True if everything listed could be read: only then may absence mean deletion.
  var isWhole = true
  /// True if older pages were left out because the last one had no news.
  var isNewestOnly = false
  /// True if a document ended too early.
  var isCut = false
  /// The hashes of the requested pages.
  var visited: Set<Int64> = []
  /// The hashes of the ids that each page listed.
  var listings: Set<Int64> = []
  /// The hash of the ids that the first page listed.
  var firstListing: Int64?
  /// The number of items of known kinds, rejected ones included.
  var listed = 0
  var format: String?
  var title: String?
  /// The hash of the mapping that reads the pages; for homefeed/1 that of the attributes.
  var mappingHash: Int64?
  /// The members that identify the items, if that was chosen.
  var identity: String?
  /// The first answer, stored with the feed at the end of the run.
  var first: FirstAnswer?
  var bodyHash: Int64?
  var report: SyncReport

  /// Creates the checkpoint of a run that begins with the whole listing.
  init(feed: Feed, startedAt: Date) {
    mode = ""
    self.startedAt = startedAt.timeIntervalSince1970
    next = feed.requestURL
    settings = feed.settingsHash
    report = SyncReport(feed: feed.url)
  }

  /// Records the facts that a page states about the listing.
  ///
  /// - Parameter identity: The members that identified the feed's items in earlier runs.
  mutating func add(_ page: FeedPage, identity old: String?) {
    if pages == 0 {
      mode = page.mode.rawValue
      report.mode = page.mode.rawValue
      version = page.version
      epoch = page.epoch
    } else if page.version != version || page.epoch != epoch || page.mode.rawValue != mode {
      isPinned = false
    }
    format = page.format.rawValue
    mappingHash = page.mappingHash
    identity = page.identity ?? identity ?? old
    title = title ?? page.title?.shortened()
  }
}

// MARK: Checks

extension SyncCheckpoint {
  /// Records the page.
  ///
  /// - Throws: `repeatedPage` if it was listed before, at this or another URL, or `tooManyPages`:
  ///   such a listing does not end.
  mutating func checkListing(_ page: FeedPage) throws {
    let address = ContentHash.of(next)
    let listing = page.listingHash
    if visited.contains(address) || !page.items.isEmpty && listings.contains(listing) {
      throw SyncError(
        .repeatedPage, "the feed lists the same page again",
        [("url", shownURL(next)), ("page", String(pages + 1))],
        advice: "report it to the feed's publisher; the pages before are stored", endsListing: true)
    }
    visited.insert(address)
    listings.insert(listing)
    if pages == 0 { firstListing = listing }
    guard pages < SyncLimits.pagesPerRunMax, listed < SyncLimits.itemsPerRunMax
    else {
      throw SyncError(
        .tooManyPages, "the feed does not end",
        [("pages", String(pages)), ("items", String(listed))],
        advice: "report it to the feed's publisher; the pages before are stored", endsListing: true)
    }
  }

  /// Checks the share of rejected items, of the page and of the run so far: pages may be small.
  ///
  /// - Throws: `tooManyRejected`.
  func checkRejections(_ page: FeedPage, rejected: Int, of total: Int) throws {
    let run = (rejected: report.rejected, total: listed)
    for (rejected, total) in [(rejected, total), (run.rejected, run.total)]
    where rejected >= SyncLimits.rejectedCountMin
      && Double(rejected) > SyncLimits.rejectedShareMax * Double(total)
    {
      let example =
        page.rejected.first.map { ($0.id, $0.reason.description) }
        ?? report.rejections.last.map { ($0.id, $0.reason) }
      throw SyncError(
        .tooManyRejected, "too many items cannot be used",
        [
          ("rejected", "\(rejected) of \(total)"),
          ("for example", "\(example?.0 ?? "an item"): \(example?.1 ?? "")"),
        ], advice: "nothing of this page was stored")
    }
  }

  /// Checks that a listing with items has one that can be used. A delta may have none: then the
  /// next run reads the whole listing.
  ///
  /// - Throws: `nothingUsable`.
  func checkUsable(hasOwnMapping: Bool) throws {
    guard mode != FeedMode.delta.rawValue, report.rejected == listed else { return }
    var facts: [(String, String)] = []
    if report.rejected > 0 {
      facts.append(("rejected", "\(report.rejected) of \(report.rejected)"))
      if let first = report.rejections.first {
        facts.append(("the first", "\(first.id ?? "an item"): \(first.reason)"))
      }
    }
    if report.unknownKinds > 0 {
      facts.append(("items of unknown kinds", String(report.unknownKinds)))
      if !report.unknownKindNames.isEmpty {
        facts.append(("kinds", report.unknownKindNames.joined(separator: ", ")))
      }
    }
    if facts.isEmpty { return }
    let correction = hasOwnMapping ? "correct the mapping, or report it" : "report it"
    throw SyncError(
      .nothingUsable, "no item of the feed can be used", [("url", report.feed)] + facts,
      advice: report.rejected > 0
        ? "nothing was stored; \(correction) to the feed's publisher"
        : "nothing was stored; name the kinds in the mapping, or add them as entities")
  }

  /// - Throws: `emptied` for a first page without items if the feed had some: it is more likely to
  ///   be broken than empty. A delta may be empty; `checkUsable` reports unusable items.
  func checkNotEmptied(_ page: FeedPage, before lastItems: Int64) throws {
    if pages == 0, listed == 0, report.unknownKinds == 0, page.mode != .delta, lastItems > 0 {
      throw SyncError(
        .emptied, "the feed lists no items though it had some",
        [("it had", String(lastItems))],
        advice: "if it is intended, run `mooring sync --full --allow-deletions`")
    }
  }
}

extension FeedPage {
  /// The hash of the ids that it lists.
  var listingHash: Int64 {
    var ids: [UInt8] = []
    ids.reserveCapacity(16 * items.count)
    for item in items {
      if !ids.isEmpty { ids.append(0) }
      ids.append(contentsOf: item.id.utf8)
    }
    return ids.withUnsafeBytes { ContentHash.of($0) }
  }
}
