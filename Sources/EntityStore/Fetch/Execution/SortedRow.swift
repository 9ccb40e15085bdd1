import EntityModel

/// A match that is to be sorted: its record id and sort values.
package struct SortedRow {
  package let id: Int64
  private let values: [SortValue]

  private enum SortValue {
    case value(Value)
    /// The sort key of a text in a collation.
    case key([UInt8])
  }

  package init(_ row: FetchRow, sort: [BoundSort], in transaction: ReadTransaction) throws {
    id = row.id
    values = try sort.map { part in
      let value = try part.program.evaluate(row, in: transaction)
      guard let collation = part.key, !value.isNull else { return .value(value) }
      return .key(value.withBytes { collation.key(of: $0) })
    }
  }

  /// Reads the sort values of a record.
  ///
  /// - Throws: `damaged` if there is no such record.
  init(
    id: Int64, sort: [BoundSort], in transaction: ReadTransaction, _ entity: EntityLayout
  ) throws {
    guard let view = try transaction.storedView(of: id, in: entity) else {
      throw StoreError.damaged("an index entry points at no record", entity: entity.name, id: id)
    }
    do {
      try self.init(FetchRow(id: id, view: view), sort: sort, in: transaction)
    } catch is RecordDamage {
      throw StoreError.damaged("a record is unreadable", entity: entity.name, id: id)
    }
  }

  package func precedes(_ other: SortedRow, _ sort: [BoundSort]) -> Bool {
    for (number, part) in sort.enumerated() {
      let order = SortedRow.compare(values[number], other.values[number])
      if order != .same { return (order == .ascending) != part.isDescending }
    }
    return id < other.id
  }

  private static func compare(_ a: SortValue, _ b: SortValue) -> Ordering {
    switch (a, b) {
    case (.value(let a), .value(let b)): return a.compared(with: b) ?? .same
    case (.key(let a), .key(let b)):
      if a == b { return .same }
      return a.lexicographicallyPrecedes(b) ? .ascending : .descending
    // Null sorts first.
    case (.value, .key): return .ascending
    case (.key, .value): return .descending
    }
  }
}
