import LMDB

/// The changes that a write transaction has buffered for one entity. The object belongs to the
/// transaction, and to a later one after it (see `WriterScratch.recycle`).
package final class EntityChanges {
  let entity: EntityLayout
  package let rules: RowRules
  /// The changes that are not applied yet, by index number.
  let buffers: [IndexBuffer]
  /// The entries for the side logs that are not written yet, by number of the index that is being
  /// built.
  let sideLogBuffers: [IndexBuffer]
  /// Changed record ids for the side log of a build.
  // SAFETY (`@exclusivity(unchecked)`): as in the transaction.
  @exclusivity(unchecked) var changedIDs: [Int64] = []
  /// The id of the next new record; `nil` until the transaction inserts one.
  @exclusivity(unchecked) var nextID: Int64?
  /// The pages of the changed records.
  @exclusivity(unchecked) var dirtyRecords = DirtyPages()

  init(_ entity: EntityLayout, _ rules: RowRules) {
    self.entity = entity
    self.rules = rules
    buffers = entity.indexes.map { _ in IndexBuffer() }
    sideLogBuffers = (entity.build?.indexes ?? []).map { _ in IndexBuffer() }
  }

  /// Forgets all changes and keeps the memory of a few.
  func removeAll() {
    for buffer in buffers { buffer.removeAll() }
    for buffer in sideLogBuffers { buffer.removeAll() }
    changedIDs = []
    nextID = nil
    dirtyRecords = DirtyPages()
  }

  /// Returns an upper estimate of the pages that the changes touch, those of buffered changes
  /// included.
  ///
  /// - Parameter multiple: The number of changes to estimate, as a multiple of those so far.
  func dirtyPages(afterChanges multiple: Double, in transaction: TreeWriter) throws -> Int {
    var pages = Int(Double(dirtyRecords.ofRecords) * multiple)
    for index in entity.indexes {
      pages += DirtyPages.of(
        entries: Int(Double(buffers[index.number].changesAdded) * multiple),
        in: try transaction.statistics(index.tree))
    }
    return pages
  }

  /// Marks the present state, to return to it if a change cannot be completed.
  func mark() {
    for buffer in buffers { buffer.mark() }
    for buffer in sideLogBuffers { buffer.mark() }
  }

  func removeAllAfterMark() {
    for buffer in buffers { buffer.removeAllAfterMark() }
    for buffer in sideLogBuffers { buffer.removeAllAfterMark() }
  }

  /// Applies the changes of the indexes that cannot wait. Unique indexes are applied at once,
  /// because the next record is checked against them; the others when they are read, when they grow
  /// large, or at the end of the transaction.
  func applyUrgent(in transaction: TreeWriter) throws {
    for number in buffers.indices where buffers[number].changesWaiting > 0 {
      let index = entity.indexes[number]
      guard buffers[number].isUrgent(isUnique: index.isUnique) else { continue }
      try buffers[number].apply(to: index, in: transaction)
    }
    guard let build = entity.build else { return }
    for (number, (_, tree)) in build.indexes.enumerated()
    where sideLogBuffers[number].isUrgent(isUnique: false) {
      try sideLogBuffers[number].apply(toSideLog: tree, in: transaction)
    }
  }

  /// Applies the changes of all indexes if they are so many that applying them would make those
  /// wait who wait for the commit.
  func applyMany(in transaction: TreeWriter) throws {
    let waiting = buffers.reduce(0) { $0 + $1.changesWaiting }
    if waiting > StoreLimits.indexChangesMax { try apply(in: transaction) }
  }

  /// Applies the changes of all indexes.
  func apply(in transaction: TreeWriter) throws {
    for index in entity.indexes { try buffers[index.number].apply(to: index, in: transaction) }
    guard let build = entity.build else { return }
    for (number, (_, tree)) in build.indexes.enumerated() {
      try sideLogBuffers[number].apply(toSideLog: tree, in: transaction)
    }
    if let tree = build.recordSideLog {
      for id in changedIDs {
        try RecordKey.with(id) {
          try transaction.put(tree, key: $0, value: UnsafeRawBufferPointer(start: nil, count: 0))
        }
      }
    }
    changedIDs.removeAll(keepingCapacity: true)
  }
}
