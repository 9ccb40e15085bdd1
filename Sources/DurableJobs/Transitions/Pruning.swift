import EntityModel
import EntityStore
import Foundation

extension JobTable {
  /// Removes jobs whose retention is over, oldest first, at most `movesPerTransactionMax`.
  ///
  /// - Returns: The number of removed jobs. A number below the bound means that none is left.
  func prune() throws -> Int {
    var due: [JobRecord] = []
    for state in JobState.finished {
      let cursor = try cursor(state)
      while due.count < Limits.movesPerTransactionMax, let id = try cursor.next() {
        let job = try job(ofTurn: id)
        guard job.at <= now else { break }
        due.append(job)
      }
    }
    for job in due { try remove(job) }
    return due.count
  }

  /// Removes aggregates that are older than a week, at most `movesPerTransactionMax`.
  ///
  /// - Returns: The number of removed records.
  func pruneAggregates() throws -> Int {
    let minutes = try transaction.layout(MinuteRecord.entity)
    let oldest = Int64(now.timeIntervalSince1970 / 60) - Limits.aggregatesKeptMinutes
    let position = try minutes.position(of: "minute")
    let cursor = try IndexPrefixCursor(
      try minutes.index(named: "byMinute"), of: minutes, leading: [], in: transaction)
    var old: [Int64] = []
    while old.count < Limits.movesPerTransactionMax, let number = try cursor.next(),
      let minute = try transaction.row(number, of: minutes)?.int64(position), minute < oldest
    {
      old.append(number)
    }
    for number in old {
      try transaction.delete(ObjectID(entity: MinuteRecord.entity, number: number))
    }
    return old.count
  }

  /// Removes a job with its attempts and its output.
  func remove(_ job: JobRecord) throws {
    for entity in [AttemptRecord.entity, OutputRecord.entity] {
      let layout = try transaction.layout(entity)
      let cursor = try IndexPrefixCursor(
        try layout.index(named: "byJob"), of: layout, leading: [.int64(job.id.rawValue)],
        in: transaction)
      var numbers: [Int64] = []
      while let number = try cursor.next() { numbers.append(number) }
      for number in numbers {
        try transaction.delete(ObjectID(entity: entity, number: number))
      }
    }
    try transaction.delete(ObjectID(entity: JobRecord.entity, number: job.id.rawValue))
    if let group = job.group { try removeMember(of: group) }
  }
}
