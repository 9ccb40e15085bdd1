import EntityModel
import EntityStore

/// A live request bound to one snapshot. It decides which records are rows, and in which place.
struct LiveReading<T: Sendable> {
  let window: ResultsWindow
  let dependencies: Dependencies
  private let bound: BoundRequest
  private let section: ExpressionProgram?
  private let decode: RecordSource<T>.Decode
  private let transaction: ReadTransaction

  private var entity: EntityLayout { bound.entity }

  /// Binds the request.
  ///
  /// - Throws: The errors of a fetch of the request.
  init(_ query: LiveRequest<T>, in transaction: ReadTransaction) throws {
    let request = query.source.request
    let entity = try transaction.catalog.entity(request.entityName)
    try transaction.requireRecords(request)
    self.transaction = transaction
    bound = try BoundRequest(request, entity, in: transaction)
    window = ResultsWindow(offset: bound.offset, limit: request.fetchLimit)
    dependencies = try Dependencies(
      request, sections: query.sectionPath, of: entity, in: transaction)
    section = try query.sectionPath.map {
      try Binder(.entity(entity), in: transaction).bind(.path($0)).program
    }
    decode = query.source.decoder(in: transaction, entity)
  }

  /// Returns the row of a record in this snapshot; `nil` if the record does not match.
  ///
  /// - Complexity: O(log *n*).
  func row(_ id: Int64) throws -> LiveRow<T>? {
    guard let view = try transaction.view(of: id, in: entity) else { return nil }
    return try entity.reading(id) { () -> LiveRow<T>? in
      let row = FetchRow(id: id, view: view)
      for (_, program) in bound.conjuncts where try !program.matches(row, in: transaction) {
        return nil
      }
      return try self.row(row, view)
    }
  }

  /// Returns the first rows, in order. Later rows are not read.
  ///
  /// - Parameter count: The number of rows; `nil` for all of them.
  func firstRows(_ count: Int?) throws -> [LiveRow<T>] {
    var rows: [LiveRow<T>] = []
    var execution = try FetchExecution(bound.first(count), in: transaction)
    try execution.runRecords { id, view in
      guard let row = try self.row(FetchRow(id: id, view: view), view) else { return true }
      rows.append(row)
      return true
    }
    return rows
  }

  private func row(_ row: FetchRow, _ view: RecordView) throws -> LiveRow<T>? {
    let key = RowKey(
      bytes: try SortBytes(row, by: bound.sort, in: transaction).bytes, id: row.id)
    let section = try section?.evaluate(row, in: transaction) ?? .null
    var made: LiveRow<T>?
    try decode(view, row.id) { value in
      made = LiveRow(
        id: ObjectID(entity: entity.name, number: row.id), section: section, value: value,
        key: key,
        // The same bytes may have another meaning under another schema.
        contentHash: ContentHash.of(view.bytes) ^ Int64(bitPattern: transaction.catalog.revision))
    }
    return made
  }
}
