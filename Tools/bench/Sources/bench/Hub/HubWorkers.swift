import Foundation
import Mooring

/// Measures workers that share the feeds of a store, and one that has nothing to do.
struct HubWorkers {
  let site: HubSite
  let plan: HubPlan

  func run(into results: inout Measurements) async throws {
    let one = try await secondsOfSyncs(workers: 1)
    results.add(one, to: .feedsOfOne, of: .mooring)
    let three = try await secondsOfSyncs(workers: 3)
    results.add(three, to: .feedsOfThree, of: .mooring)
    results.add(one / three, to: .feedsSpeedup, of: .mooring)
    try await idle(&results)
  }

  /// Returns the time from the addition of the feeds until the first machine has the items of all.
  ///
  /// - Throws: `mismatch` if a machine lacks an item at the end.
  private func secondsOfSyncs(workers count: Int) async throws -> Double {
    reportProgress("hub: \(counted(plan.feeds, "feeds")), \(counted(count, "workers"))")
    let server = try SlowFeedServer.Running(answerAfter: plan.answerAfter)
    let machines = (1...count).map { "feeds-\(count)-\($0)" }
    try site.makeStore(machines[0]).close()
    _ = try site.createHub(machines[0])
    for machine in machines.dropFirst() { _ = try site.join(machine, to: machines[0]) }
    let workers = try machines.map { try site.startWorker(on: $0) }
    let store = try site.openInHub(machines[0])
    let queue = JobQueue(store)
    while try queue.runners().count < count { try await pause(workers) }

    let urls = (1...plan.feeds).map(server.url)
    let items = plan.feeds * SlowFeedServer.items
    let time = try await seconds {
      _ = try await Feeds(store).add(urls)
      while try store.read({ try $0.count(of: "Episode") }) < items { try await pause(workers) }
    }
    for worker in workers { worker.terminate() }
    for worker in workers { worker.waitUntilExit() }
    for machine in machines.dropFirst() {
      let other = try site.openInHub(machine)
      try requireEqual(store, other)
      other.close()
    }
    store.close()
    try server.stop()
    return time
  }

  /// Waits a moment.
  ///
  /// - Throws: `candidate` if a worker has ended.
  private func pause(_ workers: [Process]) async throws {
    guard workers.allSatisfy(\.isRunning) else {
      throw BenchError(.candidate, "a worker of Mooring ended early")
    }
    try await Task.sleep(for: .milliseconds(20))
  }

  /// Measures one of two workers of a hub in which nothing happens.
  private func idle(_ results: inout Measurements) async throws {
    reportProgress("hub: an idle machine")
    let machines = ["idle", "idle-2"]
    try site.makeStore(machines[0]).close()
    _ = try site.createHub(machines[0])
    _ = try site.join(machines[1], to: machines[0])
    let workers = try machines.map { try site.startWorker(on: $0) }
    try await Task.sleep(for: plan.rest)
    results.add(
      try await wakeupsPerSecond(of: workers[1].processIdentifier, during: plan.pause),
      to: .hubWakeups, of: .mooring)
    for worker in workers { worker.terminate() }
    for worker in workers { worker.waitUntilExit() }
  }
}
