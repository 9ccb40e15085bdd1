package import EntityModel

/// An expression bound to an entity or to the columns of a group.
package indirect enum ExpressionProgram {
  case constant(Value)
  case attribute(Int)
  /// The record's own id.
  case identity
  /// The id of the record that a to-one relationship leads to.
  case link(RelationshipLayout)
  /// An expression on the record that a to-one relationship leads to.
  case linked(Hop, ExpressionProgram)
  case collection(CollectionProgram)
  case arithmetic(ArithmeticOperator, ExpressionProgram, ExpressionProgram)
  case negative(ExpressionProgram)

  package func evaluate(_ row: FetchRow, in transaction: ReadTransaction) throws -> Value {
    switch self {
    case .constant(let value): return value
    case .attribute(let position): return try row.value(position)
    case .identity: return row.isMissing ? .null : .int64(row.id)
    case .link(let relationship):
      return try relationship.target(of: row, in: transaction).map(Value.int64) ?? .null
    case .linked(let hop, let program):
      return try hop.follow(row, in: transaction) { row in
        try program.evaluate(row, in: transaction)
      }
    case .collection(let program): return try program.evaluate(row, in: transaction)
    case .arithmetic(let sign, let left, let right):
      return try Arithmetic.evaluate(
        sign, try left.evaluate(row, in: transaction), try right.evaluate(row, in: transaction))
    case .negative(let part): return try Arithmetic.negate(try part.evaluate(row, in: transaction))
    }
  }

  /// The attributes of the record itself that the expression reads; `nil` if it reads other values,
  /// too.
  var attributes: Set<Int>? {
    switch self {
    case .constant, .identity: return []
    case .attribute(let position): return [position]
    case .link, .linked, .collection: return nil
    case .arithmetic(_, let left, let right):
      guard let left = left.attributes, let right = right.attributes else { return nil }
      return left.union(right)
    case .negative(let part): return part.attributes
    }
  }
}

extension ExpressionProgram {
  /// Returns the attributes of the record itself that the expressions read; `nil` if one reads
  /// other values, too.
  static func attributes(of programs: [ExpressionProgram]) -> Set<Int>? {
    PredicateProgram.union(programs.map(\.attributes))
  }
}

/// One step along a relationship.
package struct Hop {
  package let relationship: RelationshipLayout
  package let destination: EntityLayout

  /// Calls the closure with the record that the to-one relationship leads to, or with the missing
  /// row.
  func follow<R>(
    _ row: FetchRow, in transaction: ReadTransaction, _ body: (FetchRow) throws -> R
  ) throws -> R {
    guard let id = try relationship.target(of: row, in: transaction),
      let view = try transaction.view(of: id, in: destination)
    else { return try body(.missing) }
    return try destination.reading(id) { try body(FetchRow(id: id, view: view)) }
  }

  /// Calls the closure with each record that the relationship leads to, until it returns `false`.
  func followAll(
    _ row: FetchRow, in transaction: ReadTransaction, _ body: (FetchRow) throws -> Bool
  ) throws {
    guard case .record(let view) = row.fields else { return }
    try transaction.eachLinked(relationship, from: view, id: row.id) { id in
      guard let view = try transaction.view(of: id, in: destination) else { return true }
      return try destination.reading(id) { try body(FetchRow(id: id, view: view)) }
    }
  }

  /// Calls the closure with each record at the end of a path, until it returns `false`.
  static func followAll(
    _ hops: ArraySlice<Hop>, _ row: FetchRow, in transaction: ReadTransaction,
    _ body: (FetchRow) throws -> Bool
  ) throws -> Bool {
    guard let first = hops.first else { return try body(row) }
    var shouldContinue = true
    try first.followAll(row, in: transaction) { row in
      shouldContinue = try followAll(hops.dropFirst(), row, in: transaction, body)
      return shouldContinue
    }
    return shouldContinue
  }
}

extension RelationshipLayout {
  /// Returns the id of the record that the to-one relationship leads to.
  func target(of row: FetchRow, in transaction: ReadTransaction) throws -> Int64? {
    guard case .record(let view) = row.fields else { return nil }
    return try transaction.linked(self, from: view, id: row.id)
  }
}

extension FetchRow {
  var isMissing: Bool { if case .missing = fields { true } else { false } }
}

/// An aggregate of the records at the end of a to-many path, or of the elements of a list.
package struct CollectionProgram {
  let function: CollectionFunction
  let hops: [Hop]
  /// The aggregated expression of each record; `nil` for a count.
  let part: ExpressionProgram?
  /// The position of the list whose elements are aggregated instead of records.
  let list: Int?
  /// The sum of no values.
  let zero: Value

  func evaluate(_ row: FetchRow, in transaction: ReadTransaction) throws -> Value {
    if let list {
      guard case .strings(let elements) = try row.value(list) else { return .int64(0) }
      return .int64(Int64(elements.count))
    }
    var count: Int64 = 0
    var accumulator = Accumulator(function.aggregate)
    _ = try Hop.followAll(hops[...], row, in: transaction) { row in
      count += 1
      if let part { try accumulator.add(try part.evaluate(row, in: transaction)) }
      return true
    }
    if function == .count { return .int64(count) }
    let value = try accumulator.result()
    return value.isNull && function == .sum ? zero : value
  }
}

extension CollectionFunction {
  var aggregate: AggregateFunction {
    switch self {
    case .count: .count
    case .sum: .sum
    case .average: .average
    case .minimum: .minimum
    case .maximum: .maximum
    }
  }
}
