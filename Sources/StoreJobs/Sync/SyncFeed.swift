public import DurableJobs
import EntityStore
public import FeedSync
import Foundation
import HTTPClient

/// Syncs one feed.
///
/// What it has committed stays, whatever ends it, and the next sync of the feed goes on there. A server
/// that asks to wait is asked again then; a feed that is paused, gone or unknown is not.
///
/// One of a feed at a time. It is tried three times only, and one of the schedule once where a few
/// seconds mend nothing: the schedule comes again, the later the more often the feed has failed.
public struct SyncFeed: Job, Hashable {
  public typealias Output = SyncReport
  public static let kind: JobKind = "feed.sync"
  public static let policy = JobPolicy(
    queue: .sync, attemptsMax: 3, timeout: .seconds(3_600),
    backoff: Backoff(base: .seconds(15), cap: .seconds(600)), retention: .seconds(86_400))
  /// Syncs of feeds of one host that run at once.
  public static let perHostMax = 2

  /// Its number in the store.
  public var feed: Int64
  /// Fetch the whole listing, though a delta would do.
  public var isFull: Bool
  /// Delete even if most of the feed's records would go.
  public var allowsDeletions: Bool
  /// Ask though the server has asked to wait.
  public var ignoresWait: Bool
  /// The schedule has asked for it, and will again.
  public var isScheduled: Bool
  /// The feed's host, if no more than `perHostMax` of its feeds are to be synced at once.
  public var host: String?

  public init(
    feed: Int64, isFull: Bool = false, allowsDeletions: Bool = false, ignoresWait: Bool = false,
    isScheduled: Bool = false, host: String? = nil
  ) {
    self.feed = feed
    self.isFull = isFull
    self.allowsDeletions = allowsDeletions
    self.ignoresWait = ignoresWait
    self.isScheduled = isScheduled
    self.host = host
  }

  /// Only `feed` must be there.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    feed = try container.decode(Int64.self, forKey: .feed)
    isFull = try container.value(.isFull, otherwise: false)
    allowsDeletions = try container.value(.allowsDeletions, otherwise: false)
    ignoresWait = try container.value(.ignoresWait, otherwise: false)
    isScheduled = try container.value(.isScheduled, otherwise: false)
    host = try container.decodeIfPresent(String.self, forKey: .host)
  }

  public var uniqueKey: String? { "\(feed)" }
  public var limit: JobLimit? {
    host.map { JobLimit(PathKey.of("feed.sync \($0)"), max: Self.perHostMax) }
  }
}

extension SyncFeed {
  func run(_ context: JobContext, by engine: SyncEngine) async throws -> SyncReport {
    var options = SyncEngine.Options()
    options.isFull = isFull
    options.allowsDeletions = allowsDeletions
    options.ignoresWait = ignoresWait
    do {
      return try await context.withCheckpoints { [feed, options] committed in
        try await engine.sync(feed, options: options) { report in
          context.report(done: Int64(report.items), note: report.feed)
          committed(Int64(report.items))
        }
      }
    } catch let error as SyncError {
      throw try verdict(on: error, in: context.store)
    } catch let error as HTTPError where error.code != .cancelled {
      throw verdict(onAnswer: error)
    } catch let error as StoreError {
      throw JobStop.verdict(on: error)
    }
  }

  /// What the feed's server has said, or not said, it says again within seconds.
  private func verdict(onAnswer error: any Error) -> any Error {
    isScheduled ? JobStop.discard(because: "\(error)") : error
  }

  private func verdict(on error: SyncError, in store: Store) throws -> any Error {
    let now = store.now()
    switch error.code {
    case .waiting:
      let feeds = Feeds(store)
      let (id, record) = try feeds.find("\(feed)")
      let circumstances = try feeds.circumstances(of: id, record, now: now)
      guard let promise = FeedTiming.promise(record, circumstances) else {
        return verdict(onAnswer: error)
      }
      return JobStop.retry(
        after: .seconds(promise.at.timeIntervalSince(now).rounded(.up)), because: "\(error)")
    case .busy: return JobStop.snooze(for: Limits.busyWait)
    case .paused, .gone, .unknownFeed, .invalidFeed, .missingTarget, .missingToken, .foreignPage:
      return JobStop.discard(because: "\(error)")
    case .notFound, .badStatus, .badDocument, .tooManyRejected, .emptied, .repeatedPage,
      .tooManyPages,
      .unaskedNotModified:
      return verdict(onAnswer: error)
    // The feed cannot be asked at all: nothing is known that would make the schedule wait.
    case .notPermitted, .inputOutput: return error
    }
  }
}
