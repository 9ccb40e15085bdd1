/// Reads all rows of a table and counts their outcomes.
struct RowAudit {
  let table: BoundTable
  let stage: ImportProgress.Stage
  let context: ImportContext

  /// - Parameter body: Called with the rows of each chunk, while the next ones are read; it counts
  ///   each row in the balance.
  /// - Returns: The balance of the table.
  func run(
    _ body: ([WalkedRow], inout ImportReport.Table) throws -> Void
  ) throws -> ImportReport.Table {
    var balance = ImportReport.Table(name: table.table.name)
    // Before the walk, which uses the file on another thread.
    let count = try context.database.count(table.table)
    balance.rows = count
    if let lost = context.database.lostRows(of: table.table.name), !lost.isFound {
      balance.unreadable = lost.atMost
      balance.unreadableRows = lost.ranges
      balance.rows = lost.atLeast == lost.atMost ? count + lost.atMost : nil
    }
    let walk = try RowWalk(table, after: nil, context)
    let ahead = ReadAhead { try walk.nextChunk() }
    var done: Int64 = 0
    while true {
      try context.checkCancellation()
      let chunk = try ahead.next()
      if chunk.isEmpty { break }
      try body(chunk, &balance)
      done += Int64(chunk.count)
      context.progress(
        ImportProgress(
          stage: stage, name: table.table.name, done: done, total: count))
    }
    return balance
  }
}
