import EntityModel
import EntityStore
import Foundation

/// The counts of jobs that ended in one transaction, by queue and kind. They are added to the
/// records of the minute before the transaction commits.
struct MinuteAggregates {
  enum Result { case succeeded, retried, failed }

  private struct Counts {
    /// One of the jobs.
    let job: JobRecord
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
    // Compares by index, because passing an element to a closure would copy it.
    let known = groups.indices.first {
      job.hasSame(.kind, as: groups[$0].job) && job.hasSame(.queue, as: groups[$0].job)
    }
    if known == nil { groups.append(Counts(job: job)) }
    groups[known ?? groups.count - 1].count(job, result, began: began, now: now)
  }

  /// Adds the counts to the records of the minute, one for each queue and kind.
  mutating func add(in transaction: WriteTransaction) throws {
    guard !groups.isEmpty else { return }
    let minute = Int64((transaction.now.timeIntervalSince1970 / 60).rounded(.down))
    let minutes = try MinuteColumns(transaction.layout(MinuteRecord.entity))
    for counts in groups.sorted(by: { $0.job.kind < $1.job.kind }) {
      let id = try minutes.record(of: minute, counts.job, in: transaction)
      guard var row = try transaction.copy(of: id, in: minutes.layout) else { continue }
      for (position, count) in [
        (minutes.succeeded, counts.succeeded), (minutes.retried, counts.retried),
        (minutes.failed, counts.failed),
      ] where count > 0 {
        row.set((row.int64(position) ?? 0) + count, at: position)
      }
      for (position, added) in [(minutes.waits, counts.waits), (minutes.runs, counts.runs)] {
        var histogram = DurationHistogram(row.value(position).dataValue ?? Data())
        histogram.add(added)
        row.set(histogram.data, at: position)
      }
      try transaction.update(row, id: id, in: minutes.layout)
    }
    groups = []
  }
}

/// The positions of the attributes of `_JobMinute`, because names take longer.
private struct MinuteColumns {
  let layout: EntityLayout
  private let minute: Int
  private let queue: Int
  let succeeded: Int
  let retried: Int
  let failed: Int
  let waits: Int
  let runs: Int

  init(_ layout: EntityLayout) throws {
    self.layout = layout
    minute = try layout.position(of: "minute")
    queue = try layout.position(of: "queue")
    succeeded = try layout.position(of: "succeeded")
    retried = try layout.position(of: "retried")
    failed = try layout.position(of: "failed")
    waits = try layout.position(of: "waits")
    runs = try layout.position(of: "runs")
  }

  /// Returns the record of a minute for the queue and the kind of a job. Inserts one without counts
  /// if there is none.
  func record(of number: Int64, _ job: JobRecord, in transaction: WriteTransaction) throws -> Int64
  {
    let (queueName, kind) = (Value.string(job.queue.rawValue), Value.string(job.kind.rawValue))
    let known = try transaction.identifier(
      in: layout, index: layout.index(named: "byMinute")
    ) { position in
      position == minute ? .int64(number) : position == queue ? queueName : kind
    }
    if let known { return known }
    let empty = Value.data(Data())
    return try transaction.insert(
      MinuteRecord.entity,
      ["minute": .int64(number), "queue": queueName, "kind": kind, "waits": empty, "runs": empty]
    ).number
  }
}
