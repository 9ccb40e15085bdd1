import EntityModel
import Foundation
import LMDB
import SystemSupport

extension EntityLayout {
  /// Returns the sample of the entity's records; takes it again if it is too old.
  func sample(in transaction: ReadTransaction) throws -> EntitySample {
    if let sample = currentSample.withLock({ $0 }),
      try sample.isCurrent(for: self, in: transaction)
    {
      return sample
    }
    let sample = try EntitySample(of: self, in: transaction)
    // The changes of an open transaction may never be committed: its sample is not shared.
    if !transaction.hasChanged(self) { currentSample.withLock { $0 = sample } }
    return sample
  }
}

extension EntitySample {
  private static let recordsMax = 128
  /// The size above which a record is left out of the sample.
  private static let recordBytesMax = 8_192
  private static let commitsMax = 512

  fileprivate convenience init(of entity: EntityLayout, in transaction: ReadTransaction) throws {
    let count = try transaction.transaction.count(entity.tree)
    self.init(
      records: try EntitySample.take(entity, count, transaction), recordCount: count,
      transactionID: transaction.transaction.id)
  }

  fileprivate func isCurrent(
    for entity: EntityLayout, in transaction: ReadTransaction
  ) throws -> Bool {
    if transaction.transaction.id == transactionID, !transaction.hasChanged(entity) { return true }
    let count = try transaction.transaction.count(entity.tree)
    return abs(transaction.transaction.id - transactionID) < EntitySample.commitsMax
      && abs(count - recordCount) <= recordCount / 8
  }

  private static func take(
    _ entity: EntityLayout, _ count: Int, _ transaction: ReadTransaction
  ) throws -> [(id: Int64, bytes: [UInt8])] {
    var cursor = try transaction.transaction.cursor(entity.tree)
    guard let last = try cursor.last().flatMap({ RecordKey.objectID($0.key) }) else { return [] }
    var records: [(id: Int64, bytes: [UInt8])] = []
    var entry = try cursor.first()
    while let found = entry, let id = RecordKey.objectID(found.key), records.count < recordsMax {
      if found.value.count <= recordBytesMax { records.append((id, Array(found.value))) }
      // If there are few records, all are taken; else those at even steps of the ids. If the record
      // at a step was deleted, the next existing one is taken.
      let (step, overflows) = id.addingReportingOverflow(
        count <= recordsMax ? 1 : max(1, (last &- id) / Int64(max(1, recordsMax - records.count))))
      if overflows { break }
      entry = try RecordKey.with(step) { try cursor.seek(atLeast: $0) }
    }
    return records
  }

  /// Returns the fraction of the records for which the closure is true. A record that is
  /// unreadable, or for which the closure throws, counts as true.
  func fraction(
    of entity: EntityLayout, where holds: (FetchRow) throws -> Bool
  ) -> Double {
    guard !records.isEmpty else { return 1 }
    var count = 0
    for record in records {
      let isTrue = record.bytes.withUnsafeBytes { bytes -> Bool in
        guard let view = entity.record.view(of: bytes) else { return true }
        do {
          return try holds(FetchRow(id: record.id, view: view))
        } catch {
          return true  // a guess: whoever reads the record meets the error
        }
      }
      if isTrue { count += 1 }
    }
    return Double(count) / Double(records.count)
  }
}
