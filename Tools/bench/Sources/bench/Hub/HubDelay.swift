import Foundation
import Mooring
import Synchronization

/// Measures the time from the return of a commit on one machine until a read on another one, which
/// follows, shows it: alone, then while the first machine syncs a feed.
struct HubDelay {
  let site: HubSite
  let plan: HubPlan
  private static let machines = ["delay", "delay-2"]

  func run(into results: inout Measurements) async throws {
    reportProgress("hub: commits until another machine shows them")
    let feeds = try FeedServerProcess(rows: plan.items, rowsPerPage: 1_000, seed: 42)
    try await makeMachines(feed: feeds.url)
    let first = try site.openInHub(Self.machines[0])
    let second = try site.openInHub(Self.machines[1], follows: true)

    var number = 0
    let end = ContinuousClock.now + plan.turn
    let alone = try await delays(first, second, &number) { ContinuousClock.now < end }
    results.add(alone.at(0.5) * 1e3, to: .hubDelay, of: .mooring)
    let sync = try site.start(["sync", "--quiet"], on: Self.machines[0])
    let beside = try await delays(first, second, &number) { sync.isRunning }
    sync.waitUntilExit()
    guard sync.terminationStatus == 0 else {
      throw BenchError(.candidate, "mooring sync: exit status \(sync.terminationStatus)")
    }
    results.add(beside.at(0.99) * 1e3, to: .hubDelayBesideSync, of: .mooring)
    reportProgress(
      """
      hub: \(beside.count) commits beside the sync, p50 \(numberText(beside.at(0.5) * 1e3)) ms, \
      longest \(numberText(beside.longest * 1e3)) ms
      """)
    try feeds.stop()
    try requireEqual(first, second)
    guard try second.read({ try $0.count(of: "Episode") }) == plan.items + PutLoop.rows else {
      throw BenchError(.mismatch, "the second machine does not have the items of the sync")
    }
    first.close()
    second.close()
  }

  private func makeMachines(feed: String) async throws {
    let store = try site.makeStore(Self.machines[0])
    try await store.insertOwnEpisodes(PutLoop.rows)
    _ = try await Feeds(store).add(feed)
    store.close()
    _ = try site.createHub(Self.machines[0])
    _ = try site.join(Self.machines[1], to: Self.machines[0])
  }

  /// Puts one number after another into a record of the first store while `goesOn` returns true,
  /// and reads it on the second one all the time.
  ///
  /// - Parameter number: The last number that was put.
  private func delays(
    _ first: Store, _ second: Store, _ number: inout Int, while goesOn: () -> Bool
  ) async throws -> Percentiles {
    // When the record first had each number, or a later one.
    let shown = Mutex<[(number: Int, at: ContinuousClock.Instant)]>([])
    let reader = LatencyReader {
      let found = Int(((try second.progress(of: 1) ?? 0) * Self.scale).rounded())
      shown.withLock { if found > $0.last?.number ?? 0 { $0.append((found, .now)) } }
      usleep(250)
    }
    var committed: [(number: Int, at: ContinuousClock.Instant)] = []
    repeat {
      number += 1
      try await first.setProgress(Double(number) / Self.scale, of: 1)
      committed.append((number, .now))
      try await Task.sleep(for: .milliseconds(2))
    } while goesOn()
    let last = number
    let deadline = ContinuousClock.now + .seconds(30)
    while (shown.withLock { $0.last?.number ?? 0 }) < last {
      guard ContinuousClock.now < deadline else {
        throw BenchError(.mismatch, "the second machine has not shown commit \(last)")
      }
      try await Task.sleep(for: .milliseconds(1))
    }
    _ = try reader.stop()
    let times = shown.withLock { $0 }
    var place = 0
    return Percentiles(
      committed.map { commit in
        while times[place].number < commit.number { place += 1 }
        return max(0, (times[place].at - commit.at).seconds)
      })
  }

  /// The numbers are stored as fractions of this, because progress is at most 1.
  private static let scale = 1e6
}
