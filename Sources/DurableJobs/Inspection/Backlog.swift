import EntityStore
import Foundation

/// A lane in which jobs stand ready: those of one kind in one queue.
public struct LaneBacklog: Hashable, Sendable {
  public let queue: QueueName
  public let kind: JobKind
  /// How long the job whose turn is next has stood ready.
  public let oldest: Duration
}

extension JobQueue {
  /// The lanes in which jobs wait to be claimed.
  ///
  /// - Complexity: O(log *n*) for each lane, however many jobs wait.
  public func backlog() throws -> [LaneBacklog] {
    let now = store.now()
    return try store.read { transaction in
      var lanes: [LaneBacklog] = []
      try JobRows(reading: transaction).eachLane(.ready) { job in
        lanes.append(
          LaneBacklog(
            queue: job.queue, kind: job.kind,
            oldest: .seconds(max(0, now.timeIntervalSince(job.at)))))
        return true
      }
      return lanes
    }
  }
}
