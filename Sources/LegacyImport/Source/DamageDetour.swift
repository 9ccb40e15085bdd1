/// Finds the row from which reading continues after one that cannot be read.
///
/// A bad page makes a range of row ids unreadable. Seeks by growing steps find a row id after it,
/// evenly spread seeks find the readable islands before that row id, and bisection finds the
/// beginning of the island. Tables without row ids are read backward from their end instead.
final class DamageDetour {
  enum Way {
    /// The rows after this position can be read.
    case after(RowPosition)
    /// This row, and those after it.
    case from(SourceRow)
    case end
  }

  private let walk: TableWalk
  private let forward: RowStatements?
  private let backward: RowStatements?
  private var detours = 0

  init(_ connection: SQLiteConnection, _ walk: TableWalk, columns: [String]) throws {
    self.walk = walk
    guard walk.canSeek else {
      forward = nil
      backward = nil
      return
    }
    forward = try RowStatements(
      connection, walk, columns: columns, clauses: walk.clauses(isResumed: true))
    backward = try RowStatements(
      connection, walk, columns: columns,
      clauses: walk.clauses(isResumed: false, direction: .backward))
  }

  /// - Parameter position: The last row that was read; nil at the start of the table.
  /// - Complexity: O(log rows) seeks by row id; without row ids all rows up to the end, once.
  func find(after position: RowPosition?) throws -> Way {
    detours += 1
    guard detours <= Limits.unreadableRangesMax else { return .end }
    switch walk.order {
    case .rowID:
      if case .rowID(let id) = position { return try find(afterRowID: id) }
      return try find(afterRowID: nil)
    case .key: return try nearestFromEnd(after: position)
    case .storage: return .end
    }
  }

  private func find(afterRowID start: Int64?) throws -> Way {
    let points = Self.growingPoints(after: start)
    var failed = start ?? Int64.min
    for point in points {
      guard try seek(point) != .damage else {
        failed = point
        continue
      }
      let island = try firstIsland(after: start ?? points[0], before: point)
      return try bisect(failed: island?.failed ?? failed, found: island?.found ?? point)
    }
    return .end
  }

  private static func growingPoints(after start: Int64?) -> [Int64] {
    guard let start else {
      return (0..<63).reversed().map { -(Int64(1) << $0) } + [0] + (0..<63).map { Int64(1) << $0 }
    }
    return (0..<63).compactMap {
      let (point, overflows) = start.addingReportingOverflow(1 << $0)
      return overflows ? nil : point
    } + [Int64.max]
  }

  /// Returns a row id in between from which a seek finds a row, and the last one before it from
  /// which none does.
  private func firstIsland(
    after start: Int64, before end: Int64
  ) throws -> (failed: Int64, found: Int64)? {
    let step = Int64(max(1, distance(start, end) / Self.islandSeeks))
    var failed = start
    for number in 1...Int64(Self.islandSeeks) {
      let point = start &+ step &* number
      guard point > start, point < end else { break }
      if try seek(point) == .row { return (failed, point) }
      failed = point
    }
    return nil
  }

  private static let islandSeeks: UInt64 = 64

  private func bisect(failed: Int64, found: Int64) throws -> Way {
    var (failed, found) = (failed, found)
    while distance(failed, found) > 1 {
      let middle = failed &+ Int64(distance(failed, found) / 2)
      if try seek(middle) == .damage { failed = middle } else { found = middle }
    }
    return try seek(found) == .row ? .after(.rowID(found)) : .end
  }

  private func distance(_ low: Int64, _ high: Int64) -> UInt64 { UInt64(bitPattern: high &- low) }

  private enum Sight {
    case row, end, damage
  }

  /// Returns what a seek finds after this row id.
  private func seek(_ rowID: Int64) throws -> Sight {
    guard let forward else { return .damage }
    try forward.start([.integer(rowID)])
    switch try forward.next() {
    case .row(let row):
      guard case .rowID(let found) = row.position, found > rowID else { return .damage }
      return .row
    case .oversized: return .row
    case .done: return .end
    case .malformed: return .damage
    }
  }

  /// Returns the first of the rows that can be read backward from the end.
  private func nearestFromEnd(after position: RowPosition?) throws -> Way {
    // A second range cannot be distinguished from the first: rows before the readable end are given
    // up.
    guard detours == 1, let backward else { return .end }
    try backward.start([])
    var nearest: SourceRow?
    while case .row(let row) = try backward.next() {
      guard row.position != position else { break }
      nearest = row
    }
    return nearest.map { .from($0) } ?? .end
  }
}
