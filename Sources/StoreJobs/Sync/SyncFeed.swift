public import DurableJobs
import EntityModel
import EntityStore
public import FeedSync
public import Foundation
import HTTPClient
import Logging

/// Syncs one feed. At most one sync of a feed is unfinished at a time.
///
/// Whatever ends the sync, its commits stay, and the next sync of the feed continues from there. If
/// the server asks to wait, the job is tried again at that time; if the feed is paused, gone or
/// unknown, it is discarded.
///
/// The job has three attempts. A scheduled one has a single attempt for errors that last longer
/// than seconds: the schedule tries again, the later the more often the feed has failed.
public struct SyncFeed: Job, Hashable {
  public typealias Output = SyncReport
  public static let kind: JobKind = "feed.sync"
  public static let policy = JobPolicy(
    queue: .sync, attemptsMax: 3, timeout: .seconds(3_600),
    backoff: Backoff(base: .seconds(15), cap: .seconds(600)), retention: .seconds(86_400))
  /// The most syncs of feeds of one host that run at once.
  public static let perHostMax = 2

  /// The number of the feed in the store.
  public var feed: Int64
  /// True to fetch the whole listing, even if a delta would suffice.
  public var isFull: Bool
  /// True to delete records even if most of the feed's records would be deleted.
  public var allowsDeletions: Bool
  /// True to request the feed even if the server has asked to wait.
  public var ignoresWait: Bool
  /// True if the feed schedule has enqueued the job, and will again.
  public var isScheduled: Bool
  /// The time of the last addition of a URL that is not a feed, from `Feeds.candidate(_:)`; a
  /// readable page makes it one. Nil for a feed.
  public var candidateAddedAt: Date?
  /// The feed's host, to sync at most `perHostMax` of its feeds at once; `nil` for no limit.
  public var host: String?

  public init(
    feed: Int64, isFull: Bool = false, allowsDeletions: Bool = false, ignoresWait: Bool = false,
    isScheduled: Bool = false, candidateAddedAt: Date? = nil, host: String? = nil
  ) {
    self.feed = feed
    self.isFull = isFull
    self.allowsDeletions = allowsDeletions
    self.ignoresWait = ignoresWait
    self.isScheduled = isScheduled
    self.candidateAddedAt = candidateAddedAt
    self.host = host
  }

  /// Decodes a payload, in which only `feed` is required.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    feed = try container.decode(Int64.self, forKey: .feed)
    isFull = try container.value(.isFull, otherwise: false)
    allowsDeletions = try container.value(.allowsDeletions, otherwise: false)
    ignoresWait = try container.value(.ignoresWait, otherwise: false)
    isScheduled = try container.value(.isScheduled, otherwise: false)
    candidateAddedAt = try container.decodeIfPresent(Date.self, forKey: .candidateAddedAt)
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
    options.candidateAddedAt = candidateAddedAt
    do {
      let report = try await context.withCheckpoints { [feed, options] committed in
        try await engine.sync(feed, options: options) { report in
          context.report(done: Int64(report.items), note: report.feed)
          committed(Int64(report.items))
        }
      }
      log(report, context.logger)
      return report
    } catch let error as SyncError {
      throw try await ended(by: verdict(on: error, in: context.store), context)
    } catch let error as HTTPError where error.code != .cancelled {
      throw try await ended(by: verdict(onAnswer: error), context)
    } catch let error as StoreError {
      throw JobStop.verdict(on: error)
    }
  }

  /// Logs what the command prints about the same run.
  private func log(_ report: SyncReport, _ logger: Logger) {
    var logger = logger
    logger[metadataKey: "feed"] = "\(report.feed)"
    if let remark = report.firstRemark { logger.notice("\(remark)") }
    for warning in report.warnings { logger.notice("\(warning)") }
    if let text = report.deletionsText { logger.warning("\(text)") }
  }

  /// Deletes a URL that is not a feed after the last attempt.
  private func ended(by verdict: any Error, _ context: JobContext) async throws -> any Error {
    let isLast = (verdict as? JobStop)?.discards ?? (context.attempt >= Self.policy.attemptsMax)
    if isLast, candidateAddedAt != nil { try await Feeds(context.store).forgetCandidate(feed) }
    return verdict
  }

  /// Returns the error for a server that will probably answer in the same way within seconds.
  private func verdict(onAnswer error: any Error) -> any Error {
    isScheduled ? JobStop.discard(because: "\(error)") : error
  }

  private func verdict(on error: SyncError, in store: Store) throws -> any Error {
    let now = store.now()
    switch error.code {
    case .waiting:
      // Also of a URL that is not a feed yet, which `Feeds.find` does not find.
      let id = ObjectID(entity: Feed.entityName, number: feed)
      guard let record = try store.read({ try $0.get(Feed.self, id) }),
        let promise = FeedTiming.promise(
          record, try Feeds(store).circumstances(of: feed, record, now: now))
      else { return verdict(onAnswer: error) }
      let wait = promise.at.timeIntervalSince(now).rounded(.up)
      return JobStop.retry(after: .stored(seconds: wait), because: "\(error)")
    case .busy: return JobStop.snooze(for: Limits.busyWait)
    case .paused, .gone, .unknownFeed, .invalidFeed, .missingTarget, .missingSecret, .foreignPage,
      .privateAddress:
      return JobStop.discard(because: "\(error)")
    case .notFound, .badStatus, .refused, .badDocument, .tooManyRejected, .nothingUsable, .emptied,
      .repeatedPage, .tooManyPages, .unaskedNotModified:
      return verdict(onAnswer: error)
    // The feed cannot be requested at all, which does not delay the schedule.
    case .notPermitted, .inputOutput: return error
    }
  }
}
