import EntityModel
import EntityStore
import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import DurableJobs

/// Each thing that must not be is found: it is written into a sound store on purpose.
@Suite(.timeLimit(.minutes(10)))
struct JobCheckTests {
  @Test func aSoundStoreHasNoProblems() async throws {
    try await withSoundJobs { store, sound in
      let report = try JobQueue(store).check()
      #expect(report.problems == [] && report.remarks == [])
      #expect(report.jobs == 8 && report.groups == 1)
      #expect(report.schedules == 1 && report.runners == 1)
    }
  }

  @Test(arguments: JobDamage.all)
  func eachDamageIsFound(_ damage: JobDamage) async throws {
    try await withSoundJobs { store, sound in
      try await store.write { try damage.apply($0, sound) }
      let report = try JobQueue(store).check()
      #expect(!report.isClean)
      #expect(
        report.problems.contains { $0.contains(damage.finding) },
        "\(report.problems) instead of \(damage.finding)")
    }
  }

  @Test(arguments: [
    (1.5, Duration.milliseconds(1_500)), (1e300, .seconds(1_000_000_000_000)),
    (-.infinity, .seconds(-1_000_000_000_000)), (.nan, .zero),
  ])
  func anyStoredNumberOfSecondsIsADuration(_ seconds: Double, _ duration: Duration) {
    #expect(Duration.stored(seconds: seconds) == duration)
  }

  @Test func aRunnerThatHasDiedIsARemark() async throws {
    try await withSoundJobs { store, sound in
      sound.lease.release()
      let report = try JobQueue(store).check()
      #expect(report.isClean)
      #expect(report.remarks.count == 1)
      #expect(
        report.remarks.first?.contains("is dead; the next runner takes over its jobs: 1") == true)
    }
  }

  @Test func aKindWithoutARunnerIsARemark() async throws {
    try await withSoundJobs { store, sound in
      try await JobQueue(store).enqueue(JobRequest(kind: "test.unknown", payload: Data("1".utf8)))
      let report = try JobQueue(store).check()
      #expect(report.isClean)
      #expect(
        report.remarks
          == ["jobs of test.unknown wait in default, and no runner knows the kind"])
    }
  }

  @Test func problemsBeyondTheBoundAreCounted() async throws {
    try await withSoundJobs { store, sound in
      try await store.write { transaction in
        for job in 1...150 {
          try transaction.insert(
            "_JobOutput", ["job": .int64(Int64(1_000 + job)), "page": 0, "rows": .data(Data())])
        }
      }
      let report = try JobQueue(store).check()
      #expect(report.problemCount == 150 && report.problems.count == 100)
    }
  }
}

/// Jobs in each state, under a runner that lives.
struct SoundJobs: Sendable {
  /// A lock that can be released during the test.
  final class Lease: Sendable {
    private let held: Locked<RunnerLease?>
    let epoch: Int64

    init(_ lease: RunnerLease) {
      epoch = lease.epoch
      held = Locked(lease)
    }

    func release() { held.withLock { $0 = nil } }
  }

  let lease: Lease
  let ended: Int64
  let running: Int64
  let held: Int64
  let ready: Int64
  let scheduled: Int64
  let group: Int64
  let member: Int64
  let completion: Int64
}

private func withSoundJobs(_ body: (Store, SoundJobs) async throws -> Void) async throws {
  try await withTemporaryStore(migrations: [.model, .jobs]) { temporary in
    let store = temporary.store
    let kinds: Set<JobKind> = ["test.a", "test.b", "test.c"]
    let lease = SoundJobs.Lease(
      try await RunnerLease.take(in: store, command: "test", kinds: kinds))
    let sound = try await store.write { try SoundJobs(in: $0, lease) }
    let recurrence = try Recurrence(CronExpression("@daily"), in: Recurrence.zone(named: "UTC"))
    let request = JobRequest(kind: "test.a", payload: Data("1".utf8))
    try await JobQueue(store).setSchedule(JobSchedule("nightly", recurrence, request))
    try await body(store, sound)
  }
}

extension SoundJobs {
  init(in transaction: WriteTransaction, _ lease: Lease) throws {
    self.lease = lease
    let table = try JobTable(transaction)
    func request(_ kind: JobKind) -> JobRequest { JobRequest(kind: kind, payload: Data("1".utf8)) }
    func claim(_ kind: JobKind) throws -> [Claim] {
      try table.claim(ClaimTerms(epoch: lease.epoch, count: 9, kinds: [kind])).compactMap(\.claim)
    }
    var unique = request("test.b")
    unique.uniqueKey = "one"
    ended = try table.enqueue(unique).id.rawValue
    for claim in try claim("test.b") { _ = try table.finish(claim, .failed("no", wait: .zero)) }
    for claim in try claim("test.b") { _ = try table.finish(claim, .succeeded(nil)) }
    var limited = request("test.a")
    limited.limit = JobLimit("key")
    running = try table.enqueue(limited).id.rawValue
    held = try table.enqueue(limited).id.rawValue
    _ = try claim("test.a")
    ready = try table.enqueue(request("test.c")).id.rawValue
    var later = request("test.c")
    later.runAt = table.now.addingTimeInterval(100)
    scheduled = try table.enqueue(later).id.rawValue
    completion = scheduled + 1
    member = completion + 1
    group = try transaction.enqueue(
      group: [request("test.c"), request("test.c")], then: request("test.c")
    ).rawValue
    try table.addAggregates()
  }
}
