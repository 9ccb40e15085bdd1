import DurableJobs
import EntityStore
import TestSupport
import Testing

@testable import WorkerService

/// The metrics of waiting jobs.
@Suite(.timeLimit(.minutes(5))) struct BacklogMetricsTests {
  @Test func waitingJobsAreReportedUntilNoneWaits() async throws {
    try await withTemporaryStore(migrations: [.jobs]) { temporary in
      let queue = JobQueue(temporary.store)
      let metrics = TextfileMetrics()
      var backlog = BacklogMetrics(metrics)
      let first = try await queue.enqueue(JobRequest(kind: "a", payload: .init("{}".utf8)))
      temporary.clock.advance(by: 30)
      try await queue.enqueue(JobRequest(kind: "a", payload: .init("{}".utf8)))
      try await queue.enqueue(JobRequest(kind: "b", payload: .init("{}".utf8)))
      temporary.clock.advance(by: 10)
      backlog.record(try queue.backlog(), running: 3)
      var text = try PrometheusText(metrics.text())
      func oldest(_ kind: String) -> Double? {
        text.value("mooring_jobs_oldest_ready_seconds", ["name": kind, "queue": "default"])
      }
      #expect(text.value("mooring_jobs_running") == 3)
      #expect(oldest("a") == 40 && oldest("b") == 10)
      for job in try queue.list() where job.kind == "b" || job.id == first.id {
        try await queue.cancel(job.id)
      }
      backlog.record(try queue.backlog(), running: 0)
      text = try PrometheusText(metrics.text())
      #expect(text.value("mooring_jobs_running") == 0)
      #expect(oldest("a") == 10 && oldest("b") == 0)
    }
  }
}
