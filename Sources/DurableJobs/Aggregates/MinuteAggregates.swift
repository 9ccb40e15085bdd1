import EntityModel
import EntityStore
import Foundation

/// The counts of jobs that ended in one transaction, by queue and kind. They are added to the
/// records of the minute before the transaction commits.
struct MinuteAggregates {
  enum Result { case succeeded, retried, failed }

  private struct Counts {
    let queue: QueueName
    let kind: JobKind
    var succeeded: Int64 = 0
    var retried: Int64 = 0
    var failed: Int64 = 0
    var waits = DurationHistogram()
    var runs = DurationHistogram()

    mutating func count(_ job: JobRecord, _ result: Result, began: Date?, now: Date) {
      switch result {
      case .succeeded: succeeded += 1
      case .retried: retried += 1
      case .failed: failed += 1
      }
      guard let began else { return }
      // The claim has set it to the time at which the job became ready.
      waits.add(began.timeIntervalSince(job.runAt))
      runs.add(now.timeIntervalSince(began))
    }
  }

  /// One for each queue and kind. One transaction has few.
  private var groups: [Counts] = []

  /// - Parameter began: The beginning of the attempt; `nil` for a job that was not running.
  mutating func count(_ job: JobRecord, _ result: Result, began: Date?, now: Date) {
    let known = groups.firstIndex {
      job.has($0.kind.rawValue, in: .kind) && job.has($0.queue.rawValue, in: .queue)
    }
    if known == nil { groups.append(Counts(queue: job.queue, kind: job.kind)) }
    groups[known ?? groups.count - 1].count(job, result, began: began, now: now)
  }

  /// Adds the counts to the records of the minute, one for each queue and kind.
  mutating func add(in transaction: WriteTransaction) throws {
    guard !groups.isEmpty else { return }
    let minute = Int64((transaction.now.timeIntervalSince1970 / 60).rounded(.down))
    for counts in groups.sorted(by: { $0.kind < $1.kind }) {
      let key: [String: Value] = [
        "minute": .int64(minute), "queue": .string(counts.queue.rawValue),
        "kind": .string(counts.kind.rawValue),
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
    groups = []
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
