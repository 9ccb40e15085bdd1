import Foundation
import Synchronization

@testable import DurableJobs
@testable import EntityStore

/// The looks of a runner at the jobs and at the other runners.
extension SimulatedProcess {
  func rescueDead() async throws -> Duration? {
    let (store, epoch) = (store, epoch)
    var next: Duration?
    for other in try store.read({ try RunnerRow.others(than: epoch, in: $0) }) {
      if let life = try RunnerLease.life(of: other.epoch, in: store) {
        next = min(next ?? life, life)
        continue
      }
      next = Limits.runnersInterval
      let count = try await JobRescue.run(other.epoch, in: store)
      let now = world.now
      let expected = world.jobs.withLock {
        $0.rescue(other.epoch, wasStopping: other.isStopping, at: now)
      }
      world.trace.add("runner \(epoch) took over \(count) jobs of runner \(other.epoch)")
      guard count == expected else {
        throw Violation("\(count) jobs of runner \(other.epoch) were taken over, not \(expected)")
      }
    }
    return next
  }

  func correctTimes() async throws {
    let now = world.clock.now
    while now < correctedAt {
      if try await store.write(author: "jobs", { try JobTable($0).correctTimes() }) { break }
    }
    correctedAt = now
  }

  func survey(_ running: [JobID], _ terms: ClaimTerms?) throws -> RunnerState.Event {
    let now = world.clock.now
    return try store.read { transaction in
      let rows = try JobRows(reading: transaction)
      let cancelled = try running.filter { try rows.isCancelled($0) }.sorted()
      guard let terms else { return .surveyed(cancelled: cancelled, hasWork: false) }
      let isDue = try rows.nextTime().map { $0 <= now } ?? false
      return .surveyed(
        cancelled: cancelled, hasWork: try isDue || !rows.lanes(servedUnder: terms).isEmpty)
    }
  }
}
