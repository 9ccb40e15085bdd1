import DurableJobs
import EntityStore
import Logging
import Metrics

/// The metrics of ended attempts. Names and labels are those of swift-jobs, so that its dashboards
/// can be used.
enum JobMetrics {
  static func record(_ ended: EndedAttempt, _ logger: Logger) {
    let status =
      switch ended.state {
      case .succeeded: "succeeded"
      case .cancelled: "cancelled"
      case .discarded, .poisoned: "failed"
      case .scheduled, .ready, .held, .blocked, .running:
        ended.error == nil ? "requeued" : "retried"
      case nil: "lost"
      }
    let dimensions = [
      ("name", ended.kind.rawValue), ("queue", ended.queue.rawValue), ("status", status),
    ]
    Counter(label: "jobs", dimensions: dimensions).increment()
    Timer(label: "jobs.duration", dimensions: dimensions).record(duration: ended.ran)
    Timer(label: "jobs.queued.duration", dimensions: Array(dimensions.prefix(2)))
      .record(duration: ended.waited)
    log(ended, status, logger)
  }

  private static func log(_ ended: EndedAttempt, _ status: String, _ logger: Logger) {
    var metadata: Logger.Metadata = [
      "job": "\(ended.job)", "kind": "\(ended.kind)", "attempt": "\(ended.attempt)",
      "status": "\(status)", "ran": "\(ended.ran.milliseconds) ms",
    ]
    if let error = ended.error { metadata["error"] = "\(error)" }
    switch ended.state {
    case .discarded, .poisoned, nil: logger.error("a job has failed", metadata: metadata)
    case .scheduled, .ready: logger.notice("a job is tried again later", metadata: metadata)
    case .succeeded, .cancelled, .held, .blocked, .running:
      logger.info("a job has ended", metadata: metadata)
    }
  }

}

/// The metrics of waiting jobs, on which alarms are set.
struct BacklogMetrics {
  private struct Lane: Hashable {
    let queue: QueueName
    let kind: JobKind
  }

  private let factory: any MetricsFactory
  /// The lanes with waiting jobs at the last call of `record`.
  private var waiting: Set<Lane> = []

  init(_ factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

  /// Records the lanes with waiting jobs, and 0 for the lanes that no longer have any.
  mutating func record(_ backlog: [LaneBacklog], running: Int) {
    Gauge(label: "jobs.running", factory: factory).record(running)
    let now = Set(backlog.map { Lane(queue: $0.queue, kind: $0.kind) })
    for lane in waiting.subtracting(now) { record(0, lane) }
    for entry in backlog {
      record(entry.oldest.seconds, Lane(queue: entry.queue, kind: entry.kind))
    }
    waiting = now
  }

  private func record(_ seconds: Double, _ lane: Lane) {
    let dimensions = [("name", lane.kind.rawValue), ("queue", lane.queue.rawValue)]
    Gauge(label: "jobs.oldest.ready.seconds", dimensions: dimensions, factory: factory)
      .record(seconds)
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}
