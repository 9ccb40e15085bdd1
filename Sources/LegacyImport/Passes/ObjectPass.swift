/// The first pass of a run: the rows of the tables become records.
struct ObjectPass {
  let context: ImportContext
  let chunks: ImportChunks

  /// Writes all rows after the checkpoint.
  func run() throws {
    guard case .objects(let first, let position) = chunks.checkpoint.stage else { return }
    for number in context.bound.tables.indices.dropFirst(first) {
      try write(number, after: number == first ? position : nil)
    }
  }

  private func write(_ number: Int, after position: RowPosition?) throws {
    let table = context.bound.tables[number]
    let firstEntity = context.bound.tables[..<number].reduce(0) { $0 + $1.parts.count }
    let walk = try RowWalk(table, after: position, context)
    let total = try context.database.count(table.table)
    let ahead = ReadAhead { try walk.nextChunk() }
    var done: Int64 = 0
    try chunks.run(
      { try ahead.next() }, nextIfReady: { ahead.nextIfReady() },
      with: { try RowWriter(table, context, in: $0) },
      committed: { rows in
        done += Int64(rows)
        context.progress(
          ImportProgress(stage: .objects, name: table.table.name, done: done, total: total))
      }
    ) { writer, row, checkpoint in
      if let (part, outcome) = try writer.write(row) {
        checkpoint.counts.all[firstEntity + part].add(outcome)
      }
      checkpoint.stage = .objects(table: number, after: row.position)
    }
  }
}

extension WriteCounts {
  fileprivate mutating func add(_ outcome: RowWriter.Outcome) {
    switch outcome {
    case .new: new += 1
    case .changed: changed += 1
    case .unchanged: unchanged += 1
    case .deleted: deleted += 1
    }
  }
}
