import DurableJobs
import EntityStore
import Foundation

extension StatusReader {
  /// The most jobs that are read to find the lanes of those that are scheduled or held.
  private static let jobsReadMax = 500
  private static let window = Duration.seconds(3_600)

  /// - Returns: Nil for a store without jobs.
  func jobs(_ transaction: ReadTransaction) throws -> JobsStatus? {
    guard try store.hasJobs else { return nil }
    let queue = JobQueue(store)
    return JobsStatus(
      statistics: try queue.statistics(
        over: Self.window, readingAtMost: Self.jobsReadMax, in: transaction),
      failures: try queue.failures(limit: listed, in: transaction),
      poisoned: try queue.jobs(in: .poisoned, limit: listed, in: transaction),
      running: try queue.jobs(in: .running, limit: listed, in: transaction),
      pausedQueues: try queue.pausedQueues(in: transaction).map(\.rawValue),
      schedules: try queue.scheduleStatuses(in: transaction).map { schedule in
        ScheduleStatus(schedule: schedule, words: schedule.words)
      })
  }

  func workers(_ jobs: JobsStatus?) -> [WorkerStatus] {
    guard let jobs else { return [] }
    let running = Dictionary(grouping: jobs.running) { $0.epoch ?? 0 }
    return jobs.statistics.runners.map {
      WorkerStatus(runner: $0, running: running[$0.epoch]?.count ?? 0)
    }
  }
}

extension JobScheduleStatus {
  /// Its times in words; the expression if it cannot be read.
  fileprivate var words: String {
    guard let expression = try? CronExpression(self.expression) else { return self.expression }
    return zone == "UTC" ? expression.words : "\(expression.words), \(zone)"
  }
}
