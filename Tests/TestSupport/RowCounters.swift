import EntityModel
public import EntityStore

/// Writers of the items of a store, each of which counts its own rows, so that a store shows which
/// of their commits it has.
public enum RowCounters {
  public struct Broken: Error, CustomStringConvertible { public let description: String }

  /// Adds rows, each in a commit with the counter of the writer.
  ///
  /// - Parameter committed: Called with the number of each row, from 1 on, after its commit.
  public static func write(
    _ rows: Int, by writer: Int, to store: Store, committed: (Int) -> Void
  ) async throws {
    var counter: ObjectID?
    for number in 1...rows {
      counter = try await store.write { [counter] transaction in
        try transaction.insert("Item", row(number, of: writer))
        guard let counter else {
          return try transaction.insert("Item", row(number, of: writer, code: "counter"))
        }
        try transaction.update(counter) { try $0.set("size", to: .int64(Int64(number))) }
        return counter
      }
      committed(number)
    }
  }

  /// Returns the number of rows that a writer has committed.
  ///
  /// - Throws: `Broken` if rows and counter do not agree.
  public static func rows(of writer: Int, in transaction: ReadTransaction) throws -> Int {
    let request = FetchRequest(
      entityName: "Item", predicate: .comparison("group", .equal, group(of: writer)),
      sortBy: [SortKey("size")])
    let records = try transaction.fetch(request)
    guard let counter = try records.first(where: { try $0["code"] == "counter" }) else {
      if records.isEmpty { return 0 }
      throw Broken(description: "writer \(writer) has \(records.count) rows and no counter")
    }
    let codes = try records.map { try $0["code"] }.filter { $0 != "counter" }
    guard try counter["size"] == .int64(Int64(codes.count)),
      codes == codes.indices.map({ .string("row \($0 + 1)") })
    else {
      throw Broken(description: "writer \(writer) counts \(try counter["size"].text): \(codes)")
    }
    return codes.count
  }

  private static func row(
    _ number: Int, of writer: Int, code: String? = nil
  ) -> [String: Value] {
    [
      "code": .string(code ?? "row \(number)"), "size": .int64(Int64(number)),
      "group": group(of: writer),
      "tags": .strings([String(repeating: "t", count: number * 97 % 600)]),
    ]
  }

  private static func group(of writer: Int) -> Value { .string("writer \(writer)") }
}
