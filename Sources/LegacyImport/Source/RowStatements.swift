/// The statements that return the rows of a table, which advance together: more than one for a
/// table with more columns than SQLite returns at once.
final class RowStatements {
  enum Outcome {
    case row(SourceRow)
    case done
    case malformed
    case oversized
  }

  private let walk: TableWalk
  private let columnCount: Int
  private let positionWidth: Int
  private var count: Int64 = 0
  private var parts: [(statement: SQLiteStatement, width: Int)] = []

  init(
    _ connection: SQLiteConnection, _ walk: TableWalk, columns: [String], clauses: String
  ) throws {
    self.walk = walk
    columnCount = columns.count
    positionWidth = walk.positionColumns.count
    var rest = columns[...]
    repeat {
      let position = parts.isEmpty ? walk.positionColumns : []
      let part = rest.prefix(Self.resultColumnsMax - position.count)
      rest = rest.dropFirst(part.count)
      let names = position + part.map(sqlName)
      let statement = try connection.prepare(
        "SELECT " + (names.isEmpty ? "NULL" : names.joined(separator: ", ")) + clauses)
      parts.append((statement, part.count))
    } while !rest.isEmpty
  }

  /// The greatest number of columns of a statement; SQLite's own limit is 2,000.
  private static let resultColumnsMax = 1_900

  /// Starts from the beginning with these parameters.
  func start(_ parameters: [Cell]) throws {
    for part in parts {
      part.statement.reset()
      try part.statement.bind(parameters)
    }
  }

  func next() throws -> Outcome {
    for part in parts {
      switch try part.statement.outcome() {
      case .row: continue
      case .done: return .done
      case .malformed: return .malformed
      case .oversized: return .oversized
      }
    }
    count += 1
    let position = try position()
    var cells: [Cell] = []
    cells.reserveCapacity(columnCount)
    for (place, part) in parts.enumerated() {
      let start = place == 0 ? positionWidth : 0
      for column in start..<(start + part.width) {
        cells.append(try part.statement.cell(Int32(column)))
      }
    }
    return .row(SourceRow(position: position, cells: cells))
  }

  private func position() throws -> RowPosition {
    let first = parts[0].statement
    switch walk.order {
    case .rowID: return .rowID(first.integer(0))
    case .storage([]): return .rowID(count)
    case .key(let columns), .storage(let columns):
      return .key(try columns.indices.map { try first.cell(Int32($0)) })
    }
  }
}
