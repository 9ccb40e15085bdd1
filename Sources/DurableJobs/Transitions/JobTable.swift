import EntityModel
import EntityStore
import Foundation

/// The jobs of a store within one write transaction, and all changes of their state. A change
/// updates what depends on it: the unique key, the jobs that wait for a limit, the group, the
/// aggregates.
///
/// Valid within its transaction. Call `addAggregates` at the end of one in which jobs have ended.
final class JobTable: JobRows {
  let transaction: WriteTransaction
  /// The number of jobs that a claim has held back because of their limit.
  var heldBack = 0
  /// The jobs that have ended in this transaction, to be added to the aggregates of its minute.
  // SAFETY (of what is unchecked): counting and adding call nothing that accesses this property.
  @exclusivity(unchecked) var ended = MinuteAggregates()

  /// The builder of the last new row, for its memory.
  private var rowBuilder: RowBuilder?

  /// - Throws: `StoreError` if the store has no jobs.
  init(_ transaction: WriteTransaction) throws {
    self.transaction = transaction
    try super.init(reading: transaction)
  }

  var now: Date { transaction.now }

  /// Inserts a job of default values with those that the closure sets.
  func insert(_ setValues: (inout RowBuilder) -> Void) throws -> JobID {
    var row = rowBuilder.take() ?? RowBuilder(jobs)
    row.removeAll()
    setValues(&row)
    let id = try transaction.insert(row, into: jobs)
    rowBuilder = consume row
    return JobID(rawValue: id)
  }

  func update(_ job: JobRecord) throws {
    try transaction.update(job.row, id: job.id.rawValue, in: jobs)
  }

  /// Adds the jobs that have ended to the aggregates of the minute.
  func addAggregates() throws { try ended.add(in: transaction) }
}
