import EntityModel
import EntityStore
import FeedSync
import Foundation
import Glibc
import HomeFeed
import Migrations
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import StoreHub

/// Workers of three machines share feeds and are killed at any moment.
@Suite(
  .serialized, .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"),
  .timeLimit(.minutes(30)))
struct HubFeedTests {
  private let machines = ["first", "second", "third"]

  @Test func oneRunAtATimeOfEachFeedAndNoHostIsAskedTooEarly() async throws {
    let (feeds, hosts, spacing) = isThorough ? (200, 40, 2_000) : (16, 4, 300)
    let killsMin = isThorough ? 200 : 6
    var random = SeededRandom(seed: testSeed(83))
    try await withHub { hub in
      try await create(hub, feeds: feeds, hosts: hosts)
      let start = now()
      var all: [ReportingChild] = []
      func begin(_ machine: Int) throws -> ReportingChild {
        let child = try ReportingChild(
          "hub-sync", hub.folder.path(machines[machine]),
          [
            "runs=\(hub.folder.path("runs"))", "spacing=\(spacing)", "seed=\(all.count)",
          ], environment: hub.environment)
        all.append(child)
        return child
      }
      var running = try machines.indices.map { try begin($0) }
      var kills = 0
      while kills < killsMin || synced(all).count < feeds {
        let place = random.number(0...2)
        await running[place].wait(for: "ready")
        // The moment of the kill is what is drawn.
        try await Task.sleep(for: .milliseconds(random.number(0...600)))
        await running[place].kill()
        kills += 1
        running[place] = try begin(place)
      }
      for child in running { await child.kill() }

      let lines = all.flatMap(\.all)
      let wrong = lines.filter { $0.hasPrefix("twice") || $0.hasPrefix("error") }
      #expect(wrong == [], "seed \(random.seed)")
      for (host, times) in asked(lines) {
        for (number, time) in times.sorted().enumerated() {
          let earliest = start + number * spacing * 1_000_000
          #expect(time >= earliest, "\(host) is asked too early, seed \(random.seed)")
        }
      }
      let stores = try machines.map { try hub.open($0, migrations: [.homeFeed, .feeds]) }
      try requireSame(stores)
      #expect(try stores[2].read { try $0.count(of: "Episode") } == 3 * feeds)
      let requests = lines.count { $0.hasPrefix("asked") }
      print("\(kills) kills, \(feeds) feeds, \(requests) requests, seed \(random.seed)")
    }
  }

  private func create(_ hub: TestHub, feeds: Int, hosts: Int) async throws {
    let sources = [MigrationSource.homeFeed, .feeds]
    let urls = (0..<feeds).map { "https://host\($0 % hosts).example.org/\($0)" }
    try await hub.create(migrations: sources) { store in
      for addition in try await Feeds(store).add(urls) {
        guard case .added = addition else {
          Issue.record("\(addition)")
          continue
        }
      }
    }
    for machine in machines.dropFirst() { _ = try hub.join(machine, migrations: sources) }
  }

  /// The feeds of which a run has ended well.
  private func synced(_ children: [ReportingChild]) -> Set<Substring> {
    Set(children.flatMap(\.all).filter { $0.hasPrefix("synced") }.map { $0.dropFirst(7) })
  }

  /// The times of the requests by host.
  private func asked(_ lines: [String]) -> [Substring: [Int]] {
    var times: [Substring: [Int]] = [:]
    for line in lines where line.hasPrefix("asked") {
      let words = line.split(separator: " ")
      guard words.count == 3, let time = Int(words[2]) else { continue }
      times[words[1], default: []].append(time)
    }
    return times
  }

  /// The nanoseconds of the clock that all processes share.
  private func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
