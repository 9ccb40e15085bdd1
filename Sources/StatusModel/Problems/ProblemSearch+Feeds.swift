import DurableJobs
import FeedSync
import Foundation

extension ProblemSearch {
  mutating func searchFeeds() {
    let feeds = status.feeds
    func first(_ condition: FeedCondition) -> FeedStatus? {
      feeds.worst.first { $0.condition == condition }
    }
    add(
      .gone, first(.gone), "gone for good, as the server says",
      advice: {
        "remove it: `mooring feed remove \($0)`; or try again: `mooring feed resume \($0)`"
      })
    let failing = feeds.count(.failing)
    if failing > 0 {
      // A single failing feed is the publisher's problem, most of them are our own.
      let areMost = failing > 3 && failing * 2 > feeds.total
      add(
        .failing, first(.failing), "failing", severity: areMost ? .critical : .warning,
        advice: { areMost ? "check the network" : "`mooring feed show \($0)`" })
    }
    let lateAdvice = lateAdvice
    add(
      .late, first(.late), "not requested when it was due",
      advice: { _ in lateAdvice })
    add(
      .waiting, first(.waiting), "waiting, because the server has asked to", severity: .note,
      advice: { "nothing; `mooring feed show \($0)` says until when" })
    add(
      .silent, first(.silent), "silent for 90 days", severity: .note,
      advice: { "see whether it has moved: `mooring feed show \($0)`" })
  }

  private var lateAdvice: String {
    status.workers.contains { $0.runner.claimsJobs }
      ? "the worker has too much to do: raise its --concurrency"
      : "start a worker: `systemctl start mooring-worker`, or `mooring worker`"
  }

  private mutating func add(
    _ condition: FeedCondition, _ worst: FeedStatus?, _ words: String,
    severity: Problem.Severity = .warning, advice: (Int64) -> String
  ) {
    let number = status.feeds.count(condition)
    guard number > 0, let worst else { return }
    let verb = number == 1 ? "is" : "are"
    var summary = "\(count(number, "feed")) \(verb) \(words): \(worst.title ?? worst.url)"
    if condition == .failing, let error = worst.lastError { summary += ": \(Self.short(error))" }
    add(severity, .feeds, summary, since: worst.since, advice: advice(worst.id))
  }

  /// Returns an error without its details.
  private static func short(_ error: String) -> Substring {
    let end = [" (", ": ", "; "].compactMap { error.firstRange(of: $0)?.lowerBound }.min()
    return error[..<(end ?? error.endIndex)]
  }
}
