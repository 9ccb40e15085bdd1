import EntityModel
import EntityStore
import Foundation

/// What ended in one transaction, by queue and kind, until it is added to the figures of the minute.
struct MinuteFigures {
  enum Result { case succeeded, retried, failed }

  private struct Group: Hashable {
    let queue: QueueName
    let kind: JobKind
  }

  private struct Counts {
    var succeeded: Int64 = 0
    var retried: Int64 = 0
    var failed: Int64 = 0
    var waits = DurationHistogram()
    var runs = DurationHistogram()
  }

  private var groups: [Group: Counts] = [:]

  /// - Parameter began: When the attempt began; `nil` for a job that did not run.
  mutating func count(_ job: JobRecord, _ result: Result, began: Date?, now: Date) {
    var counts = groups[Group(queue: job.queue, kind: job.kind)] ?? Counts()
    switch result {
    case .succeeded: counts.succeeded += 1
    case .retried: counts.retried += 1
    case .failed: counts.failed += 1
    }
    if let began {
      // A claim has left there since when the job stood ready.
      counts.waits.add(began.timeIntervalSince(job.runAt))
      counts.runs.add(now.timeIntervalSince(began))
    }
    groups[Group(queue: job.queue, kind: job.kind)] = counts
  }

  /// Adds all of it to the records of the minute: one of each queue and kind.
  mutating func add(in transaction: WriteTransaction) throws {
    guard !groups.isEmpty else { return }
    let minute = Int64((transaction.now.timeIntervalSince1970 / 60).rounded(.down))
    for (group, counts) in groups.sorted(by: { $0.key.kind < $1.key.kind }) {
      let key: [String: Value] = [
        "minute": .int64(minute), "queue": .string(group.queue.rawValue),
        "kind": .string(group.kind.rawValue),
      ]
      if let known = try transaction.objectID(MinuteRecord.entity, by: key) {
        try transaction.update(known) { try Self.add(counts, to: &$0) }
      } else {
        let empty = Value.data(Data())
        let id = try transaction.insert(
          MinuteRecord.entity, key.merging(["waits": empty, "runs": empty]) { $1 })
        try transaction.update(id) { try Self.add(counts, to: &$0) }
      }
    }
    groups = [:]
  }

  private static func add(_ counts: Counts, to record: inout Record) throws {
    for (name, count) in [
      ("succeeded", counts.succeeded), ("retried", counts.retried), ("failed", counts.failed),
    ] where count > 0 {
      try record.set(name, to: .int64((try record[name].int64Value ?? 0) + count))
    }
    for (name, added) in [("waits", counts.waits), ("runs", counts.runs)] {
      var histogram = DurationHistogram(try record[name].dataValue ?? Data())
      histogram.add(added)
      try record.set(name, to: .data(histogram.data))
    }
  }
}
