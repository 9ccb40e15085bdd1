import EntityStore
import FeedSync
import HomeFeed

/// Commands on a store with feeds.
///
/// - Returns: `false` if the command is not one of them.
func runSyncCommand(_ arguments: [String]) async throws -> Bool {
  guard arguments.count == 3, arguments[0] == "sync-feed" else { return false }
  let (folder, url) = (arguments[1], arguments[2])
  let store = try Store.open(at: folder, migrations: [.homeFeed, .feeds])
  let engine = SyncEngine(store: store, transport: try CurlTransport())
  let report = try await engine.sync(try Feeds(store).find(url).id)
  say("synced \(report.items) \(report.isResumed)")
  return true
}
