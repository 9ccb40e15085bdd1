import EntityModel

/// Sorts records: null first ascending and last descending, ties by number.
struct NaiveSort {
  let records: NaiveRecords
  let keys: [SortKey]

  func sorted(_ members: [Int64]) throws -> [Int64] {
    let operands = try keys.map { try records.path($0.path) }
    let rows = try members.map { id in (id: id, values: try operands.map { try $0.value(id) }) }
    return try rows.sorted { left, right in
      for (position, key) in keys.enumerated() {
        let order = try Self.order(left.values[position], right.values[position], key)
        if order != .same { return order == .ascending }
      }
      return left.id < right.id
    }.map(\.id)
  }

  static func order(_ left: Value, _ right: Value, _ key: SortKey) throws -> Ordering {
    let order = try collated(left, right, key.collation)
    return key.isDescending ? order.reversed : order
  }

  private static func collated(_ left: Value, _ right: Value, _ collation: Collation) throws
    -> Ordering
  {
    guard case .string(let a) = left, case .string(let b) = right, collation != .binary else {
      return left.compared(with: right) ?? .same
    }
    if case .localizedStandard(let locale) = collation {
      return try NaiveText.localizedOrder(a, b, locale: locale, [])
    }
    return NaiveText.order(Array(NaiveText.folded(a).utf8), Array(NaiveText.folded(b).utf8))
  }
}
