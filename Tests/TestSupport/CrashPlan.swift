public import EntityModel
public import EntityStore
import Foundation

/// A long write whose checkpoint determines its state, so that a test knows, after a kill, what
/// must be in the store.
///
/// At the start the store has `localRows` records, each with a local note. The write scans them and
/// continues to `rows` records, so that it updates and inserts.
public enum CrashPlan {
  public static let name = "crash plan"
  public static let rows = 240
  public static let localRows = 60
  public static let rowsPerChunk = 12

  /// Puts the records in that the write comes upon.
  public static func prepare(_ store: Store) async throws {
    try await store.write { transaction in
      for row in 0..<localRows {
        try transaction.insert(
          "Sample", ["name": .string("n\(row)"), "rank": -1, "note": note(row)])
      }
    }
  }

  /// Runs or resumes the write.
  ///
  /// - Parameter progress: Called with the number of each row when it was written, before its
  ///   commit.
  @discardableResult
  public static func write(
    to store: Store, progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) async throws -> Checkpoint<Int>.Progress {
    var write = ChunkedWrite<Int>(name: name)
    write.rowsMax = rowsPerChunk
    write.duration = .seconds(60)
    return try await write.run(on: store, from: 0) { transaction, row, chunk in
      try transaction.upsert("Sample", values(row), by: ["name"])
      progress(row)
      row += 1
      chunk.add(rows: 1)
      return row < rows
    }
  }

  /// The expected content of a record for a checkpoint; `nil` if it should not exist.
  public static func expected(_ row: Int, position: Int) -> [String: Value]? {
    let local: [String: Value] = row < localRows ? ["note": note(row)] : [:]
    if row < position { return values(row).merging(local) { old, _ in old } }
    return row < localRows ? ["name": .string("n\(row)"), "rank": -1, "note": note(row)] : nil
  }

  /// True if the write is complete. It then has no stored progress, as before its first chunk.
  public static func isDone(in transaction: ReadTransaction) throws -> Bool {
    let isUnderWay = try Checkpoint<Int>(name: name).load(in: transaction) != nil
    return try !isUnderWay && transaction.count(of: "Sample") == rows
  }

  /// Compares a store with the checkpoint that it contains.
  ///
  /// - Returns: The differences; empty if all is as expected.
  public static func problems(in transaction: ReadTransaction) throws -> [String] {
    let progress = try Checkpoint<Int>(name: name).load(in: transaction)
    let count = try transaction.count(of: "Sample")
    let position = try progress?.position ?? (isDone(in: transaction) ? rows : 0)
    var problems: [String] = []
    if let progress, progress.rows != Int64(position) {
      problems.append("\(progress.rows) rows are counted at the position \(position)")
    }
    if position % rowsPerChunk != 0 { problems.append("half a chunk at \(position)") }
    for row in 0..<rows {
      let record = try transaction.get("Sample", by: ["name": .string("n\(row)")])
      guard let expected = expected(row, position: position) else {
        if record != nil { problems.append("row \(row) is there, the position is \(position)") }
        continue
      }
      for (name, value) in expected where try record?[name] != value {
        problems.append("\(name) of row \(row) is wrong, the position is \(position)")
      }
    }
    if count != max(position, localRows) { problems.append("\(count) records at \(position)") }
    return problems
  }

  private static func note(_ row: Int) -> Value { .string("mine \(row)") }

  private static func values(_ row: Int) -> [String: Value] {
    [
      "name": .string("n\(row)"), "rank": .int64(Int64(row * 7_919 % 101)),
      "title": .string(String(repeating: "t", count: row * 37 % 700)),
      "score": .double(Double(row) / 3), "code": .int64(Int64(row)), "isOpen": .bool(row % 2 == 0),
      "tags": .strings(["a\(row % 5)", "b\(row % 3)"]),
      "dueAt": row % 4 == 0 ? .null : .date(Date(timeIntervalSinceReferenceDate: Double(-row))),
    ]
  }
}
