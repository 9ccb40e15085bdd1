import DurableJobs
import FeedSync
import Foundation
import Synchronization

@testable import EntityStore

/// The operator of a simulation: enqueues jobs, cancels and retries them, pauses and resumes feeds.
struct Operator {
  let world: World

  /// Does one thing. A full disk refuses it.
  func act() async throws {
    do {
      switch world.chance.number(0...9) {
      case 0: try await cancel()
      case 1: try await retry()
      case 2: try await pauseFeed()
      case 3: try await resumeFeed()
      default: try await enqueue()
      }
    } catch let error as StoreError where error.passes {
      world.trace.add("the operator was refused: \(error.code)")
    }
  }

  private func enqueue() async throws {
    var request = try JobRequest(Work(world.chance))
    if world.chance.one(in: 2) {
      request.runAt = world.clock.now.addingTimeInterval(Double(world.chance.number(1...7_200)))
    }
    request.priority = world.chance.number(-1...1)
    let id = try await JobQueue(world.store).enqueue(request).id
    world.trace.add("the operator enqueued job \(id)")
    try world.adopt()
  }

  private func cancel() async throws {
    let jobs = world.jobs.withLock(\.unfinished).filter { $0.kind == "work" }
    guard !jobs.isEmpty else { return }
    let id = world.chance.pick(jobs).id
    let now = world.now
    try await JobQueue(world.store).cancel(JobID(rawValue: id))
    world.jobs.withLock { $0.cancel(id, at: now) }
    world.trace.add("the operator cancelled job \(id)")
  }

  private func retry() async throws {
    let failed = world.jobs.withLock { models in
      models.jobs.values.filter {
        $0.kind == "work" && $0.schedule == nil
          && [.ended("discarded"), .ended("cancelled"), .ended("poisoned")].contains($0.state)
      }.map(\.id).sorted()
    }
    guard !failed.isEmpty else { return }
    let id = world.chance.pick(failed)
    let now = world.now
    try await JobQueue(world.store).retry(JobID(rawValue: id))
    world.jobs.withLock { $0.retry(id, at: now) }
    world.trace.add("the operator retried job \(id)")
  }

  private func pauseFeed() async throws {
    let active = world.network.models.feeds.filter { $0.isActive && !$0.isAsked }
    guard !active.isEmpty, world.chance.one(in: 4) else { return }
    let feed = world.chance.pick(active)
    try await Feeds(world.store).update(feed.number) { $0.isPaused = true }
    world.network.change { models in
      if let index = models.index(number: feed.number) { models.feeds[index].isPaused = true }
    }
    world.trace.add("the operator paused feed \(feed.number)")
  }

  private func resumeFeed() async throws {
    let stopped = world.network.models.feeds.filter { !$0.isActive }
    guard !stopped.isEmpty else { return }
    let feed = world.chance.pick(stopped)
    try await Feeds(world.store).resume(feed.number)
    let now = world.now
    world.network.change { models in
      guard let index = models.index(number: feed.number) else { return }
      (models.feeds[index].isPaused, models.feeds[index].isGone) = (false, false)
      models.feeds[index].activeSince = now
    }
    world.trace.add("the operator resumed feed \(feed.number)")
  }
}
