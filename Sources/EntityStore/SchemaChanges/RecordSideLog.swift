import LMDB

/// The side log with the ids of the records that other writers have changed since a step began to
/// build values of the entity (see `EntityBuild`).
package struct RecordSideLog {
  private let tree: Tree
  private let entity: EntityLayout
  private let transaction: WriteTransaction

  /// Finds the side log of an entity; `nil` if changed ids are not recorded.
  package init?(of entity: EntityLayout, in transaction: WriteTransaction) {
    guard let tree = entity.build?.recordSideLog else { return nil }
    self.tree = tree
    self.entity = entity
    self.transaction = transaction
  }

  package var isEmpty: Bool { get throws { try transaction.writing.count(tree) == 0 } }

  /// Calls the closure with each changed record that still exists, and removes its id, until the
  /// side log is empty or there is no more room.
  ///
  /// - Parameter rows: Raised by one for each id.
  /// - Parameter hasRoom: Called after each id; `false` ends the call.
  /// - Returns: True if the side log has more entries.
  package func catchUp(
    rows: inout Int64, while hasRoom: () -> Bool, _ visit: (Int64, RecordView) throws -> Void
  ) throws -> Bool {
    while let id = try first() {
      if let view = try transaction.view(of: id, in: entity) { try visit(id, view) }
      try RecordKey.with(id) { _ = try transaction.writing.delete(tree, key: $0) }
      rows += 1
      if !hasRoom() { return true }
    }
    return false
  }

  private func first() throws -> Int64? {
    var cursor = try transaction.writing.cursor(tree)
    return try cursor.first().flatMap { RecordKey.objectID($0.key) }
  }
}
