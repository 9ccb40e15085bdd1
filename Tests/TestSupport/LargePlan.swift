import EntityModel
public import EntityObjects
public import EntityStore
import Foundation

/// Inserts of large records, in few commits.
public struct LargePlan: Sendable {
  public let rows: Int
  private let rowsPerChunk: Int

  /// In a thorough run a commit may have more than 4,096 pages.
  public static let growing =
    isThorough ? LargePlan(rows: 3_000, rowsPerChunk: 1_500) : few
  public static let few = LargePlan(rows: 40, rowsPerChunk: 10)

  private static let pagesPerRow = 3

  /// Runs the inserts, or continues them.
  ///
  /// - Parameter progress: Called after each commit.
  @discardableResult
  public func run(
    on store: Store, progress: @escaping @Sendable (BatchProgress) -> Void = { _ in }
  ) async throws -> BatchResult {
    var options = BatchRequestOptions(name: "large")
    options.chunkRows = rowsPerChunk
    options.chunkDuration = .seconds(600)
    let request = BatchInsertRequest("Sample", (0..<rows).map(Self.values), options: options)
    return try await store.execute(request, progress: progress)
  }

  /// Returns the number of rows in a store, and what is wrong with them.
  public func rows(
    in transaction: ReadTransaction
  ) throws -> (count: Int, problems: [String]) {
    let records = try transaction.fetch(
      FetchRequest(entityName: "Sample", sortBy: [SortKey("rank")]))
    let wrong = try records.enumerated().filter { row, record in
      try Self.values(row).contains { try record[$0.key] != $0.value }
    }
    return (records.count, wrong.prefix(3).map { "row \($0.offset) is \($0.element.id)" })
  }

  private static func values(_ row: Int) -> [String: Value] {
    [
      "name": .string("large \(row)"), "rank": .int64(Int64(row)),
      "blob": .data(Data(repeating: UInt8(row % 251), count: pagesPerRow * 4_096 - 200)),
    ]
  }
}
