import EntityStore
import Foundation

/// The starts of the last runs of many feeds, from the files of their leases (see `SyncLease`).
///
/// The folder is listed once, so that a feed without a file costs no system call.
struct LastRuns {
  private let store: Store
  private let feeds: Set<Int64>

  init(_ store: Store) {
    self.store = store
    feeds = SyncLease.feedsWithFile(in: store.folder)
  }

  /// Returns the start of the feed's last run, in any process; nil if there was none.
  func start(of feed: Int64) -> Date? {
    SyncLease.lastStart(feedID: feed, in: store, hasFile: feeds.contains(feed))
  }
}
