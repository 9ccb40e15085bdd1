import Console
import DurableJobs
import EntityStore
import FeedSync
import HTTPClient
import StoreJobs
import SystemSupport

/// The runs of several feeds, one after the other.
final class FeedSyncs: Sendable {
  struct Results {
    /// The reports of the runs that have ended, those that failed among them.
    var reports: [SyncReport] = []
    /// The first failure.
    var failure: (any Error)?
  }

  private let engine: SyncEngine
  private let feeds: Feeds
  private let queue: JobQueue
  private let options: SyncEngine.Options
  /// True to wait for another process that syncs the feed.
  private let waits: Bool
  private let isQuiet: Bool
  private let command: LongCommand
  private let state = Locked(Results())

  init(
    engine: SyncEngine, store: Store, options: SyncEngine.Options, waits: Bool, isQuiet: Bool,
    command: LongCommand
  ) {
    self.engine = engine
    feeds = Feeds(store)
    queue = JobQueue(store)
    self.options = options
    self.waits = waits
    self.isQuiet = isQuiet
    self.command = command
  }

  var results: Results { state.withLock { $0 } }

  /// - Parameter chosen: Feeds, and candidates, which a readable document adds.
  /// - Throws: What ended a run after an interrupt; the results of the runs before stay.
  func run(_ chosen: [(id: Int64, feed: Feed)]) async throws {
    for (id, feed) in chosen {
      let isNew = try feed.isRemoved && !isFeed(id)
      var counts = SyncReport(feed: feed.url)
      var failure: (any Error)?
      do {
        counts = try await sync(id, feed, isNew: isNew) { counts = $0 }
      } catch {
        if command.isInterrupted { throw error }
        counts = counts.failed(error)
        failure = error
      }
      if isNew {
        if try isFeed(id) {
          if !isQuiet { Message.say("added the feed \(counts.feed)") }
        } else {
          failure = try await notAdded(id, counts, failure)
        }
      }
      // One feed's failure does not keep the others from being synced.
      if let failure, chosen.count > 1 {
        Message.say(failure is NotAdded ? "\(failure)" : "\(counts.feed): \(failure)")
      }
      state.withLock { results in
        results.reports.append(counts)
        results.failure = results.failure ?? failure
      }
    }
  }

  /// Returns the failure of a URL that is not a feed, and deletes the URL if no job waits to sync
  /// it. If another run syncs it, that one decides.
  private func notAdded(
    _ id: Int64, _ counts: SyncReport, _ failure: (any Error)?
  ) async throws -> (any Error)? {
    guard let failure, (failure as? SyncError)?.code != .busy else { return failure }
    if try queue.holder(of: SyncFeed(feed: id)) == nil { try await feeds.forgetCandidate(id) }
    return NotAdded(url: counts.feed, cause: failure)
  }

  private func isFeed(_ id: Int64) throws -> Bool { try feeds.feed(named: String(id)) != nil }

  private func sync(
    _ id: Int64, _ feed: Feed, isNew: Bool, failed: (SyncReport) -> Void
  ) async throws -> SyncReport {
    defer { command.finish() }
    var options = options
    options.candidateAddedAt = isNew ? feed.addedAt : nil
    while true {
      try command.checkInterrupt()
      do {
        return try await engine.sync(id, options: options) { report in
          command.report(shownURL(feed.url), done: Int64(report.items))
        } failed: {
          failed($0)
        }
      } catch let error as SyncError where error.code == .busy && waits {
        try await Task.sleep(for: .milliseconds(500))
      }
    }
  }
}

/// The failure of a URL that is not a feed and has not become one.
struct NotAdded: ExitStatusProviding, CustomStringConvertible {
  let url: String
  let cause: any Error

  var exitStatus: ExitStatus {
    (cause as? any ExitStatusProviding)?.exitStatus ?? .inputOutput
  }

  var description: String { "\(url) was not added: \(cause)" }
}
