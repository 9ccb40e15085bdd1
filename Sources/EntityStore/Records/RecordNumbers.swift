import LMDB

extension ReadTransaction {
  /// The greatest number that a record of the entity has; `nil` if there is none.
  package func lastNumber(of entity: EntityLayout) throws -> Int64? {
    var cursor = try transaction.cursor(entity.tree)
    return try cursor.last().flatMap { RecordKey.objectID($0.key) }
  }

  /// The number of the record before one.
  ///
  /// - Complexity: O(log *n*).
  package func number(before number: Int64, of entity: EntityLayout) throws -> Int64? {
    var cursor = try transaction.cursor(entity.tree)
    return try RecordKey.with(number) { key in
      try cursor.seek(below: key).flatMap { RecordKey.objectID($0.key) }
    }
  }
}
