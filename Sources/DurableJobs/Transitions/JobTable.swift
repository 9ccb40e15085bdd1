import EntityModel
import EntityStore
import Foundation

/// The jobs of a store within one write transaction: every change of a job's state goes through here,
/// and each takes along what hangs on it: the unique key, those that wait behind a limit, the batch, the
/// figures.
///
/// Belongs to its transaction. `settle` is to be called at the end of one in which jobs have ended.
final class JobTable: JobRows {
  let transaction: WriteTransaction
  /// Jobs that were held back because of their limit.
  var heldBack = 0
  /// What has ended in this transaction, to be added to the figures of its minute.
  // SAFETY (of what is unchecked): counting and adding call nothing that gets here.
  @exclusivity(unchecked) var ended = MinuteFigures()

  /// - Throws: `StoreError` if the store has no jobs.
  init(_ transaction: WriteTransaction) throws {
    self.transaction = transaction
    try super.init(reading: transaction)
  }

  var now: Date { transaction.now }

  func insert(_ job: JobRecord) throws -> JobID {
    JobID(rawValue: try transaction.insert(job.changes, into: jobs))
  }

  func update(_ job: JobRecord) throws {
    try transaction.update(job.changes, of: job.row, id: job.id.rawValue, in: jobs)
  }

  /// Adds what ended to the figures.
  func settle() throws { try ended.add(in: transaction) }
}
