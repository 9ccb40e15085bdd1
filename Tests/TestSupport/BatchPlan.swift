import EntityModel
public import EntityObjects
public import EntityStore

/// The batches of the crash tests. The committed progress determines every state, so that a test
/// knows, after a kill, what must be in the store.
public enum BatchPlan: String, CaseIterable, Sendable {
  case update, delete, insert

  public static let rows = 200
  public static let rowsPerChunk = 5

  /// Puts the records in that the batch comes upon.
  public func prepare(_ store: Store) async throws {
    if self == .insert { return }
    try await store.write { transaction in
      for row in 0..<Self.rows { try transaction.insert("Sample", Self.values(row)) }
    }
  }

  /// Runs the batch, or continues it.
  ///
  /// - Parameter progress: Called after each commit.
  @discardableResult
  public func run(
    on store: Store, progress: @escaping @Sendable (BatchProgress) -> Void = { _ in }
  ) async throws -> BatchResult {
    var options = BatchRequestOptions(name: "plan")
    options.chunkRows = Self.rowsPerChunk
    options.chunkDuration = .seconds(600)
    switch self {
    case .update:
      // Each record that it has changed still matches, so that to change one twice would show.
      let request = BatchUpdateRequest(
        "Sample", where: .comparison("rank", .greaterOrEqual, 0),
        set: ["rank": try .format("rank + 1000"), "dueAt": .now], options: options)
      return try await store.execute(request, progress: progress)
    case .delete:
      let request = BatchDeleteRequest(
        "Sample", where: .comparison("rank", .greaterOrEqual, 0), options: options)
      return try await store.execute(request, progress: progress)
    case .insert:
      // To insert an item twice would be refused, as its name is unique.
      let request = BatchInsertRequest(
        "Sample", (0..<Self.rows).map(Self.values), options: options)
      return try await store.execute(request, progress: progress)
    }
  }

  /// True if the batch is complete. It then has no stored progress, as before its first chunk.
  public func isDone(in transaction: ReadTransaction) throws -> Bool {
    try committed(in: transaction) == nil && changed(in: transaction).count == Self.rows
  }

  /// Returns the rows that it has dealt with, as its progress has them.
  public func done(in transaction: ReadTransaction) throws -> Int {
    try committed(in: transaction) ?? (isDone(in: transaction) ? Self.rows : 0)
  }

  /// Holds a store against the progress that it has.
  ///
  /// - Returns: The differences; empty if all is as expected.
  public func problems(in transaction: ReadTransaction) throws -> [String] {
    let changed = try changed(in: transaction)
    let expected = try done(in: transaction)
    var problems: [String] = []
    if changed != Array(0..<expected) {
      problems.append("\(changed.count) rows are changed at the checkpoint \(expected)")
    }
    if self == .update {
      let times = try transaction.fetchRows(.distinctTimes)
      if times.count > 1 { problems.append("the rows have \(times.count) different times") }
      let twice = FetchRequest(
        entityName: "Sample", predicate: .comparison("rank", .greaterOrEqual, 2000))
      let count = try transaction.count(twice)
      if count > 0 { problems.append("\(count) rows are changed twice") }
    }
    return problems
  }

  /// The rows of its chunks; `nil` if it is not under way.
  private func committed(in transaction: ReadTransaction) throws -> Int? {
    let name = Value.string("batch.\(rawValue):plan")
    guard let record = try transaction.get("_ChunkedWrite", by: ["name": name]),
      case .int64(let rows) = try record["rows"]
    else { return nil }
    return Int(rows)
  }

  /// The numbers of the rows that it has dealt with.
  private func changed(in transaction: ReadTransaction) throws -> [Int] {
    try (0..<Self.rows).filter { row in
      let record = try transaction.get("Sample", by: ["name": .string("n\(row)")])
      switch self {
      case .update: return try record?["rank"] != .int64(Int64(row))
      case .delete: return record == nil
      case .insert: return record != nil
      }
    }
  }

  private static func values(_ row: Int) -> [String: Value] {
    ["name": .string("n\(row)"), "rank": .int64(Int64(row)), "tags": .strings(["a\(row % 5)"])]
  }
}

extension FetchRequest {
  fileprivate static var distinctTimes: FetchRequest {
    var request = FetchRequest(entityName: "Sample", predicate: .isNotNull("dueAt"))
    request.propertiesToFetch = ["dueAt"]
    request.returnsDistinctResults = true
    return request
  }
}
