import EntityModel
import EntityStore
import Foundation

/// One run of an import: records, then links, then the verification, which reads everything back.
///
/// Each chunk commits a checkpoint. After a kill, the next run with the same file and the same
/// mapping resumes from it. With another file or mapping the next run starts from the beginning,
/// and does not change what is right already.
struct ImportRun {
  let name: String
  let target: any ImportDestination
  let database: SourceDatabase
  let mapping: ImportMapping
  /// The checksum of the mapping.
  let checksum: String
  /// The warnings about the source and about what the mapping leaves out.
  let warnings: [String]
  let contents: CellContents
  /// True to delete the records of rows that have vanished.
  let prunes: Bool
  /// True to delete them even if they are most of the records.
  let allowsDeletions: Bool
  /// The number of missing rows of a damaged file with which the result is balanced.
  let missingAllowed: Int64
  let now: @Sendable () -> Date
  let isCancelled: @Sendable () -> Bool
  let progress: @Sendable (ImportProgress) -> Void

  private var write: ChunkedWrite<ImportCheckpoint> { ChunkedWrite(name: "import " + name) }

  func run() throws -> ImportReport {
    let startedAt = now()
    let bound = try target.read { try BoundMapping(mapping, database.tables, in: $0) }
    let (source, checkpoint) = try begin(bound, startedAt)
    let context = try context(bound, source: source, run: checkpoint.run)
    let chunks = ImportChunks(context, write, from: checkpoint)
    // Rows of earlier runs that are still wrong are found again.
    try clearRejects(of: context, chunks) { run, _ in run < checkpoint.run }
    try ObjectPass(context: context, chunks: chunks).run()
    // Before the links: what leads to a vanished row is then rejected or dropped.
    let pruning =
      prunes
      ? try PruningPass(context: context, chunks: chunks, allowsMost: allowsDeletions).run() : nil
    // The links are read from the first one, which finds their rejects again.
    try clearRejects(of: context, chunks) { _, isLink in isLink }
    try LinkPass(context: context, chunks: chunks).run()
    var report = self.report(run: checkpoint.run, startedAt, isPlan: false)
    var verification = Verification(context)
    try verification.run(&report)
    for number in report.entities.indices {
      report.entities[number].written = chunks.checkpoint.counts.all[number]
    }
    report.externalFiles = try contents.files(of: context)
    report.pruning = pruning
    report.finishedAt = now()
    report.rejectsAllowed = mapping.rejectLimit.allowed(of: report)
    report.balanced = report.isBalanced
    try finish(source, report)
    return report
  }

  func plan(reject: @escaping (ImportReject) throws -> Void) throws -> ImportReport {
    let startedAt = now()
    let bound = try target.read { try BoundMapping(mapping, database.tables, in: $0) }
    let known = try target.read { try record(in: $0) }
    let context = try context(bound, source: known?.number ?? 0, run: (known?.run ?? 0) + 1)
    var report = self.report(run: context.run, startedAt, isPlan: true)
    try ImportPlan(context, reject: reject).run(&report)
    report.externalFiles = try contents.files(of: context)
    report.finishedAt = now()
    report.rejectsAllowed = mapping.rejectLimit.allowed(of: report)
    report.balanced = report.isBalanced
    return report
  }

  private func context(_ bound: BoundMapping, source: Int64, run: Int64) throws -> ImportContext {
    ImportContext(
      target: target, database: database, bound: bound, contents: contents, source: source,
      run: run,
      duplicates: try DuplicateKeys(in: database, bound, source: source, isCancelled: isCancelled),
      isCancelled: isCancelled, progress: progress)
  }

  private func report(run: Int64, _ startedAt: Date, isPlan: Bool) -> ImportReport {
    var report = ImportReport(
      name: name, path: database.report.source, fingerprint: database.report.fingerprint,
      isPlan: isPlan, run: run, startedAt: startedAt, finishedAt: startedAt,
      warnings: warnings)
    report.missing = missing
    report.missingAllowed = missingAllowed
    return report
  }

  /// The missing rows of the tables that the mapping reads. Rows that fit no table are missing
  /// unless the mapping takes or skips their table.
  private var missing: [ImportReport.MissingRows] {
    let taken = Set(mapping.columnsTaken.keys)
    return database.lost.filter { lost in
      lost.isFound
        ? !taken.contains(lost.table) && !mapping.skippedTables.contains(lost.table)
        : taken.contains(lost.table) || lost.table == "sqlite_schema"
    }.map {
      ImportReport.MissingRows(
        table: $0.table, atLeast: $0.atLeast, atMost: $0.atMost, ranges: $0.ranges)
    }
  }

  // MARK: The import in the store

  private func record(in snapshot: ReadTransaction) throws -> (number: Int64, run: Int64)? {
    guard let record = try snapshot.get(ImportRecords.source, by: ["name": .string(name)]),
      case .int64(let run) = try record["run"]
    else { return nil }
    return (record.id.number, run)
  }

  private func begin(
    _ bound: BoundMapping, _ startedAt: Date
  ) throws -> (source: Int64, ImportCheckpoint) {
    let fingerprint = database.report.fingerprint
    return try target.write { transaction in
      let known = try record(in: transaction)
      if let known, let progress = try write.checkpoint.load(in: transaction),
        progress.position.fingerprint == fingerprint, progress.position.mapping == checksum
      {
        return (known.number, progress.position)
      }
      let checkpoint = ImportCheckpoint(
        run: (known?.run ?? 0) + 1, fingerprint: fingerprint, mapping: checksum,
        counts: WrittenRecords(
          Array(repeating: WriteCounts(), count: bound.tables.reduce(0) { $0 + $1.parts.count })))
      let source = try transaction.upsert(
        ImportRecords.source,
        [
          "name": .string(name), "path": .string(database.report.source),
          "fingerprint": .string(fingerprint), "mapping": .string(checksum),
          "state": .string("running"), "run": .int64(checkpoint.run),
          "startedAt": .date(startedAt), "finishedAt": .null,
        ], by: ["name"])
      try write.checkpoint.save(checkpoint, in: transaction)
      return (source.number, checkpoint)
    }
  }

  private func finish(_ source: Int64, _ report: ImportReport) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    encoder.dateEncodingStrategy = .iso8601
    let document = try encoder.encode(report)
    try target.write { transaction in
      try transaction.update(ObjectID(entity: ImportRecords.source, number: source)) { record in
        try record.set("state", to: .string(report.isBalanced ? "balanced" : "unbalanced"))
        try record.set("finishedAt", to: .date(report.finishedAt))
        try record.set("report", to: .data(document))
      }
      try write.checkpoint.remove(in: transaction)
    }
  }

  // MARK: Rejects

  private func clearRejects(
    of context: ImportContext, _ chunks: ImportChunks,
    where isStale: (_ run: Int64, _ isLink: Bool) -> Bool
  ) throws {
    var stale: [Int64] = []
    try target.read { snapshot in
      let layout = try snapshot.layout(ImportRecords.reject)
      let source = try layout.position(of: "source")
      let run = try layout.position(of: "run")
      let isLink = try layout.position(of: "isLink")
      try snapshot.eachRow(of: layout) { row in
        if row.int64(source) == context.source,
          isStale(row.int64(run) ?? 0, try row.value(isLink) == .bool(true))
        {
          stale.append(row.id)
        }
        return true
      }
    }
    try chunks.run(over: stale, with: { $0 }) { transaction, number, _ in
      try transaction.delete(ObjectID(entity: ImportRecords.reject, number: number))
    }
  }
}

extension RejectLimit {
  fileprivate func allowed(of report: ImportReport) -> Int64 {
    switch self {
    case .count(let count): return count
    case .share(let share):
      let rows = report.tables.reduce(0) { $0 + $1.accepted + $1.rejected }
      return Int64((Double(rows) * share).rounded(.down))
    }
  }
}
