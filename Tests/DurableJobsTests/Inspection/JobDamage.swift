import EntityModel
import EntityStore
import Foundation
import Testing

@testable import DurableJobs

/// A violation of an invariant, and the problem that the check must report.
struct JobDamage: Sendable, CustomTestStringConvertible {
  let name: String
  let finding: String
  let apply: @Sendable (WriteTransaction, SoundJobs) throws -> Void

  var testDescription: String { name }

  /// One attribute of one record.
  private init(
    _ name: String, _ finding: String, _ id: @escaping @Sendable (SoundJobs) -> Int64,
    _ values: [String: Value], of entity: String = "_Job"
  ) {
    self.init(name, finding) { transaction, sound in
      try transaction.update(ObjectID(entity: entity, number: id(sound))) { record in
        for (name, value) in values { try record.set(name, to: value) }
      }
    }
  }

  private init(
    _ name: String, _ finding: String,
    _ apply: @escaping @Sendable (WriteTransaction, SoundJobs) throws -> Void
  ) {
    (self.name, self.finding, self.apply) = (name, finding, apply)
  }

  private static let now = Value.date(Date(timeIntervalSinceReferenceDate: 800_000_000))

  static let all: [JobDamage] = ofStates + ofLimits + ofGroups + ofRemains

  private static let ofStates = [
    JobDamage(
      "an unknown state", "is in an unknown state: asleep", { $0.ready },
      ["state": "asleep"]),
    JobDamage(
      "a rank that is not the priority's", "is not indexed under its state, ready",
      { $0.ready }, ["rank": 7]),
    JobDamage(
      "a lane of a scheduled job", "is not indexed under its state, scheduled",
      { $0.scheduled }, ["lane": "default/test.c"]),
    JobDamage("no runner", "runs, and no runner has it", { $0.running }, ["epoch": .null]),
    JobDamage(
      "another runner", "runs under runner 99, which is not registered", { $0.running },
      ["epoch": 99]),
    JobDamage("no claim", "runs, and was never claimed", { $0.running }, ["claims": 0]),
    JobDamage(
      "a claim after the end", "is succeeded, and under a claim of runner 1", { $0.ended },
      ["epoch": 1]),
    JobDamage(
      "a leftover cancellation", "is ready, and its cancellation is still requested", { $0.ready },
      ["isCancelled": .bool(true)]),
    JobDamage(
      "no time of the end", "is succeeded, and has no time of its end", { $0.ended },
      ["finishedAt": .null]),
    JobDamage(
      "a time of the end", "is ready, and has a time of its end", { $0.ready },
      ["finishedAt": now]),
    JobDamage(
      "a checkpoint after the end", "is succeeded, and keeps a checkpoint", { $0.ended },
      ["checkpoint": .data(Data([1]))]),
    JobDamage(
      "a unique key after the end", "is succeeded, and still holds its unique key", { $0.ended },
      ["uniqueKey": "test.b:one"]),
    JobDamage(
      "a unique key of no rule", "is ready, and still holds its unique key", { $0.ready },
      ["uniqueKey": "test.c:one"]),
  ]

  private static let ofLimits = [
    JobDamage("two behind one limit", "limit key: 2 jobs run, and 1 may") { transaction, sound in
      try change(sound.held, in: transaction) { job in
        job.epoch = sound.lease.epoch
        job.claims = 1
        job.set(.startedAt, .date(transaction.now))
        job.move(to: .running, at: transaction.now)
      }
    },
    JobDamage(
      "a limit without jobs", "limit key: jobs wait for it, and none runs or is ready"
    ) { transaction, sound in
      try change(sound.running, in: transaction) { job in
        job.epoch = nil
        job.move(to: .scheduled, at: transaction.now)
      }
    },
    JobDamage(
      "held by nothing", "waits for a limit, and has none", { $0.held },
      ["limitKey": .null, "place": .null]),
  ]

  private static let ofGroups = [
    JobDamage(
      "jobs of a batch", "batch 1 counts 5 jobs, and has 2", { $0.group }, ["jobs": 5],
      of: "_JobBatch"),
    JobDamage(
      "pending jobs of a batch", "batch 1 counts 1 pending jobs, and has 2", { $0.group },
      ["pending": 1], of: "_JobBatch"),
    JobDamage(
      "succeeded jobs of a batch", "batch 1 counts 0 succeeded jobs, and has 1"
    ) { transaction, sound in
      try change(sound.member, in: transaction) { job in
        job.set(.finishedAt, .date(transaction.now))
        job.move(to: .succeeded, at: transaction.now)
      }
    },
    JobDamage(
      "a wait for an ended batch", "waits for batch 1, which has ended", { $0.group },
      ["pending": 0], of: "_JobBatch"),
    JobDamage(
      "a wait for no batch", "waits for a batch that does not exist", { $0.group },
      ["completion": .null], of: "_JobBatch"),
    JobDamage("a missing batch", "is of batch 1, which does not exist") { transaction, sound in
      try transaction.delete(ObjectID(entity: "_JobBatch", number: sound.group))
    },
  ]

  private static let ofRemains = [
    JobDamage(
      "an attempt without a job", "an attempt belongs to job 999, which does not exist"
    ) { transaction, _ in
      try transaction.insert(
        "_JobAttempt", ["job": 999, "number": 1, "endedAt": now, "outcome": "failed"])
    },
    JobDamage(
      "an output without a job",
      "a page of output belongs to job 999, which does not exist"
    ) { transaction, _ in
      try transaction.insert("_JobOutput", ["job": 999, "page": 0, "rows": .data(Data())])
    },
    JobDamage(
      "a zone of nowhere", "schedule nightly: a zone is unknown", { _ in 1 },
      ["zone": "Mars/Olympus"], of: "_JobSchedule"),
    JobDamage(
      "an endless jitter", "schedule nightly: a jitter is out of its range", { _ in 1 },
      ["jitter": .double(.infinity)], of: "_JobSchedule"),
  ]

  private static func change(
    _ id: Int64, in transaction: WriteTransaction, _ change: (inout JobRecord) -> Void
  ) throws {
    let table = try JobTable(transaction)
    var job = try table.known(JobID(rawValue: id))
    change(&job)
    try table.update(job)
  }
}
