import EntityModel
import EntityStore
import Foundation
import Migrations
import PostgreSQLTestSupport
import SystemSupport
import TestSupport
import Testing

@testable import DurableJobs
@testable import StoreHub

@Suite(
  .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"), .timeLimit(.minutes(5)))
struct HubJobTests {
  @Test func aJobAboutFilesIsRunByTheMachineThatHasEnqueuedIt() async throws {
    try await withHub { hub in
      try await hub.create()
      let (first, second) = (try hub.open("first"), try hub.join("second"))
      var request = JobRequest(kind: "copy", payload: Data("{}".utf8))
      request.isBoundToMachine = true
      request.uniqueKey = "/backups"
      let bound = try await JobQueue(first).enqueue(request)
      let other = try await JobQueue(second).enqueue(request)
      #expect(other.isNew)
      let free = try await JobQueue(first).enqueue(
        JobRequest(kind: "copy", payload: Data("1".utf8)))
      let status = try #require(try JobQueue(first).status(bound.id))
      #expect(status.queue == "default@first")
      #expect(QueueName(rawValue: status.queue).shared == .default)

      try await JobQueue(first).pause(.default)
      #expect(try await claim(in: first) == [])
      try await JobQueue(first).resume(.default)
      #expect(try await claim(in: second) == [other.id, free.id])
      #expect(try await claim(in: first) == [bound.id])
      try requireEqual(first, second)
    }
  }

  @Test func aRunnerOfAnotherMachineIsAliveUntilItsMachineIsSilent() async throws {
    try await withHub { hub in
      try await hub.create()
      let (first, second) = (try hub.open("first"), try hub.join("second"))
      var lease: RunnerLease? = try await RunnerLease.take(
        in: first, command: "test", kinds: ["copy"])
      let epoch = try #require(lease?.epoch)
      #expect(try RunnerLease.isAlive(epoch, in: second))
      #expect(try RunnerLease.isAlive(epoch, in: first))
      lease = nil
      #expect(try !RunnerLease.isAlive(epoch, in: second))
      #expect(try !RunnerLease.isAlive(epoch, in: first))
    }
  }

  @Test func aRunnerWhoseRecordIsGoneClaimsNothing() async throws {
    try await withHub { hub in
      try await hub.create()
      let first = try hub.open("first")
      var handlers = JobHandlers()
      handlers.handle(Count.self) { _, _ in NoOutput() }
      let (starts, started) = AsyncStream.makeStream(of: Void.self)
      var options = RunnerOptions()
      options.onStart = { started.finish() }
      let runner = JobRunner(first, handlers, options: options)
      let run = Task { try await runner.run() }
      for await _ in starts {}
      try await first.write { transaction in
        for id in try transaction.fetchIdentifiers(FetchRequest(entityName: "_JobRunner")) {
          try transaction.delete(id)
        }
        _ = try transaction.enqueue(Count())
      }
      let error = await #expect(throws: JobError.self) { try await run.value }
      #expect(error?.code == .lostRunner)
      #expect(try JobQueue(first).list().map(\.state) == [.ready])
    }
  }

  /// 200 jobs of one queue are finished once each by three machines.
  @Test func threeMachinesShareAQueue() async throws {
    try await withHub { hub in
      try await hub.create()
      let stores = [try hub.open("first"), try hub.join("second"), try hub.join("third")]
      let jobs = 200
      try await stores[0].write { transaction in
        for _ in 0..<jobs {
          _ = try transaction.enqueue(Count())
        }
      }
      let counts = Locked<[Int]>([0, 0, 0])
      let left = Locked(jobs)
      let (ends, allEnded) = AsyncStream.makeStream(of: Void.self)
      var runners: [JobRunner] = []
      var runs: [Task<Void, any Error>] = []
      for (machine, store) in stores.enumerated() {
        var handlers = JobHandlers()
        handlers.handle(Count.self) { _, _ in
          counts.withLock { $0[machine] += 1 }
          return NoOutput()
        }
        var options = RunnerOptions()
        options.concurrency = 4
        options.onEnd = { _ in
          let rest = left.withLock { left in
            left -= 1
            return left
          }
          if rest == 0 { allEnded.finish() }
        }
        let runner = JobRunner(store, handlers, options: options)
        runners.append(runner)
        runs.append(Task { try await runner.run() })
      }
      let followers = try ["first", "second", "third"].enumerated().map {
        try HubFollower(stores[$0.offset], of: hub.address($0.element))
      }
      for await _ in ends {}
      for runner in runners { await runner.stop(within: .seconds(10)) }
      for run in runs { try await run.value }
      for follower in followers { follower.stop() }
      #expect(counts.withLock { $0.reduce(0, +) } == jobs)
      for store in stores.dropFirst() { try requireEqual(stores[0], store) }
      let ended = try stores[2].read { transaction in
        try transaction.count(
          FetchRequest(
            entityName: "_Job", predicate: .comparison("state", .equal, .string("succeeded"))))
      }
      #expect(ended == jobs)
    }
  }

  private struct Count: Job {
    static let kind: JobKind = "count"
  }

  private func claim(in store: Store) async throws -> [JobID] {
    let terms = ClaimTerms(epoch: 1, count: 10, kinds: ["copy"])
    return try await store.write { try JobTable($0).claim(terms).map(\.id).sorted() }
  }
}
