import EntityModel

/// Answers a request with columns of single records: filter, order, columns, distinct, window.
struct ColumnFetch {
  let columns: ResultColumns
  private let programs: [ExpressionProgram]
  private let isDistinct: Bool
  private let window: BoundRequest
  private(set) var execution: FetchExecution

  /// Binds and plans a request.
  ///
  /// - Throws: `unknownAttribute`, `invalidRequest`, `requiresIndex`.
  init(_ request: FetchRequest, in transaction: ReadTransaction) throws {
    let entity = try transaction.catalog.entity(request.entityName)
    try transaction.prepareToRead(entity)
    let binder = Binder(.entity(entity), in: transaction)
    let properties =
      request.propertiesToFetch.isEmpty
      ? entity.description.attributes.filter { !$0.isHidden }.map { FetchProperty.path($0.name) }
      : request.propertiesToFetch
    columns = try ResultColumns(properties.map(\.name))
    programs = try properties.map { try binder.bind($0.expression).program }
    isDistinct = request.returnsDistinctResults
    var bound = try BoundRequest(request, entity, in: transaction)
    bound.attributes = ExpressionProgram.attributes(of: programs)
    window = bound
    execution = try FetchExecution(isDistinct ? bound.withoutWindow() : bound, in: transaction)
  }

  /// Calls the closure with each row of the window until it returns `false`.
  mutating func run(_ body: (ResultRow) throws -> Bool) throws {
    let (programs, columns, transaction) = (programs, columns, execution.transaction)
    let (isDistinct, offset, limit) = (isDistinct, window.offset, window.limit)
    var seen: Set<[Value]> = []
    var returned = 0
    // The execution counts the rows that are compared; set the number that is returned.
    defer { if isDistinct { execution.returned(returned) } }
    try execution.run { row in
      let values = try programs.map { try $0.evaluate(row, in: transaction) }
      guard isDistinct else { return try body(ResultRow(columns, values)) }
      guard seen.insert(values).inserted, seen.count > offset else { return true }
      returned += 1
      return try body(ResultRow(columns, values)) && returned < limit
    }
  }
}
