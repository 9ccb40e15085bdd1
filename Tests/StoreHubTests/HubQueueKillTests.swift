import DurableJobs
import EntityModel
import EntityStore
import Foundation
import Glibc
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import StoreHub

/// Processes of three machines run the jobs of one queue and are killed at any moment.
@Suite(
  .serialized, .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"),
  .timeLimit(.minutes(30)))
struct HubQueueKillTests {
  private static let processes = [
    "first", "first", "first", "second", "second", "second", "third", "third",
  ]

  @Test func everyJobIsFinishedOnceInSpiteOfKills() async throws {
    let jobs = isThorough ? 20_000 : 600
    var random = SeededRandom(seed: testSeed(82))
    try await withHub { hub in
      try await hub.create()
      let stores = [try hub.open("first"), try hub.join("second"), try hub.join("third")]
      let follower = try HubFollower(stores[0], of: hub.address("first"))
      defer { follower.stop() }
      try await enqueue(jobs, in: stores[0])

      var all: [ReportingChild] = []
      var running: [ReportingChild] = []
      func start(_ machine: String) throws -> ReportingChild {
        let child = try ReportingChild(
          "jobs-run", hub.folder.path(machine),
          ["runs=\(hub.folder.path("runs"))", "flush=1", "slots=16"],
          environment: hub.environment)
        all.append(child)
        return child
      }
      for machine in Self.processes { running.append(try start(machine)) }
      var kills = 0
      while try !isDone(stores[0]) {
        // The moment of a kill is what is drawn. A process that has ended no job yet is spared: on
        // a small machine its start takes longer than 50 ms, and the jobs would never be done.
        try await Task.sleep(for: .milliseconds(50))
        let working = running.indices.filter { place in
          running[place].all.contains { $0.hasPrefix("end") }
        }
        guard !working.isEmpty else { continue }
        let place = working[random.number(0...working.count - 1)]
        await running[place].kill()
        kills += 1
        running[place] = try start(Self.processes[place])
      }
      for child in running {
        await child.wait(for: "ready")
        child.signal(SIGTERM)
      }
      for child in running {
        let exit = await child.exit()
        #expect(exit == ChildProcess.Exit(status: 0, wasSignal: false), "\(child.errors())")
      }
      try requireSame(stores)
      try requireDone(jobs, in: stores[1], all)
      #expect(kills > 0)
      print("\(kills) kills, \(jobs) jobs, seed \(random.seed)")
    }
  }

  private func enqueue(_ jobs: Int, in store: Store) async throws {
    let requests = (0..<jobs).map { number in
      var request = JobRequest(kind: "effect", payload: Data("{\"number\":\(number)}".utf8))
      // Any number of deaths is none of these jobs' fault.
      request.rescuesMax = 1_000_000
      return request
    }
    for start in stride(from: 0, to: jobs, by: 500) {
      try await store.write { transaction in
        _ = try transaction.enqueue(requests[start..<min(start + 500, jobs)])
      }
    }
  }

  private func isDone(_ store: Store) throws -> Bool {
    var filter = JobFilter()
    filter.states = [.scheduled, .ready, .held, .blocked, .running]
    filter.limit = 1
    return try JobQueue(store).list(filter).isEmpty
  }

  private func requireDone(_ jobs: Int, in store: Store, _ children: [ReportingChild]) throws {
    var filter = JobFilter()
    filter.limit = .max
    let statuses = try JobQueue(store).list(filter)
    #expect(statuses.count == jobs)
    #expect(statuses.allSatisfy { $0.state == .succeeded && $0.epoch == nil })
    let effects = try names(of: store).filter { $0.hasPrefix("effect") }
    #expect(effects == (0..<jobs).map { "effect \($0)" }.sorted())
    let wrong = children.flatMap(\.all).filter { $0.hasPrefix("twice") || $0.hasPrefix("error") }
    #expect(wrong == [])
  }
}
