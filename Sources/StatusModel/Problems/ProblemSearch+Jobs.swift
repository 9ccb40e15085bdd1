import DurableJobs
import Foundation
import StoreFigures

extension ProblemSearch {
  /// The age of a ready job from which on the workers are too slow.
  private static let waitMax = 900.0
  private static let recent = 86_400.0

  mutating func searchJobs() {
    guard let jobs = status.jobs else { return }
    searchEnded(jobs)
    searchWaiting(jobs)
    for schedule in jobs.schedules {
      guard let error = schedule.schedule.error else { continue }
      add(
        .warning, .jobs, "the schedule \(schedule.schedule.name) cannot run: \(error)",
        advice: "write it again: `mooring jobs schedule`")
    }
  }

  private mutating func searchEnded(_ jobs: JobsStatus) {
    let poisoned = jobs.count(.poisoned)
    if poisoned > 0, let first = jobs.poisoned.first {
      let verb = poisoned == 1 ? "is" : "are"
      add(
        .warning, .jobs,
        "\(count(poisoned, "job")) \(verb) poisoned: the runners of job \(first.id) "
          + "(\(first.kind)) have died with it",
        since: first.finishedAt,
        advice: "`mooring jobs show \(first.id)`; then retry it: `mooring jobs retry \(first.id)`")
    }
    let failures = jobs.failures.filter {
      $0.state == .discarded && status.at.timeIntervalSince($0.endedAt) < Self.recent
    }
    let failed = Set(failures.map(\.job)).count
    if failed > 0, let last = failures.first {
      add(
        .warning, .jobs,
        "\(count(failed, "job")) failed for good in the last day: job \(last.job) (\(last.kind))"
          + (last.error.map { ": \($0)" } ?? ""),
        since: failures.last?.endedAt, advice: "`mooring jobs show \(last.job)`")
    }
  }

  private mutating func searchWaiting(_ jobs: JobsStatus) {
    let ready = jobs.statistics.lanes.filter { $0.ready > 0 }
    for lane in ready where !lane.isPaused && !lane.isServed {
      guard status.workers.contains(where: { $0.runner.claimsJobs }) else { continue }
      add(
        .warning, .jobs,
        "\(count(lane.ready, "job")) of the kind \(lane.kind) "
          + "\(lane.ready == 1 ? "waits" : "wait") in \(lane.queue), and no worker knows the kind",
        since: lane.oldestReadyAt, advice: "start the program that has its handler")
    }
    let slow = ready.filter { lane in
      !lane.isPaused && lane.isServed
        && (lane.oldestReadyAt.map { status.at.timeIntervalSince($0) > Self.waitMax } ?? false)
    }
    if let slowest = slow.min(by: { ($0.oldestReadyAt ?? .now) < ($1.oldestReadyAt ?? .now) }) {
      add(
        .warning, .jobs,
        "\(count(slow.map(\.ready).reduce(0, +), "job")) wait for longer than 15 minutes, the "
          + "first in \(slowest.queue)",
        since: slowest.oldestReadyAt,
        advice: "raise the worker's --concurrency, or look at what runs: "
          + "`mooring jobs list --state running`")
    }
    for queue in jobs.pausedQueues {
      let waiting = ready.filter { $0.queue == queue }.map(\.ready).reduce(0, +)
      add(
        .note, .jobs, "the queue \(queue) is paused; \(count(waiting, "job")) wait in it",
        advice: "resume it: `mooring jobs resume \(queue)`")
    }
  }

  mutating func searchFetches() {
    let droppable = status.fetches.droppable
    guard let first = droppable.first else { return }
    let verb = droppable.count == 1 ? "is not needed" : "are not needed"
    add(
      .note, .store,
      "\(count(droppable.count, "index", "indexes")) \(verb): \(first.index) of \(first.entity)",
      since: first.unusedSince,
      advice: "each write takes longer for it; the page /fetches has the migration that drops it")
  }

  mutating func searchWorkers() {
    let jobsWait = (status.jobs?.count(.ready) ?? 0) > 0
    let isServed = status.workers.contains { $0.runner.claimsJobs }
    if !isServed, jobsWait {
      let oldest = status.jobs?.statistics.lanes.compactMap(\.oldestReadyAt).min()
      add(
        .critical, .workers,
        "no worker runs, and \(count(status.jobs?.count(.ready) ?? 0, "job")) wait",
        since: oldest,
        advice: "start one: `systemctl start mooring-worker`, or `mooring worker`")
    }
    for worker in status.workers where !worker.runner.isAlive {
      add(
        isServed ? .note : .warning, .workers,
        "the worker with process \(worker.runner.process) has died"
          + (worker.running > 0 ? " with \(count(worker.running, "job"))" : ""),
        since: nil,
        advice: "the next worker takes over its jobs; the log says why it ended")
    }
  }
}
