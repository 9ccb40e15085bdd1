import EntityModel
public import EntityStore
import Foundation
import Maintenance
import Migrations

/// A store whose content shows if a copy is consistent: each commit adds the next row and counts it
/// in a separate record.
public enum Ledger {
  public struct Broken: Error, CustomStringConvertible { public let description: String }

  /// Creates a store, or continues one, and closes it.
  public static func write(rows: Int, at folder: String) async throws {
    let store = try openStore(at: folder)
    for _ in 0..<rows { try await addRow(to: store) }
  }

  public static func addRow(to store: Store) async throws {
    try await store.write { transaction in
      guard let counter = try transaction.get("Sample", by: ["name": "counter"]) else {
        try transaction.insert("Sample", ["name": "counter", "rank": 1])
        try transaction.insert("Sample", row(0))
        return
      }
      guard case .int64(let count) = try counter["rank"] else { return }
      try transaction.insert("Sample", row(count))
      try transaction.update(counter.id) { try $0.set("rank", to: .int64(count + 1)) }
    }
  }

  /// Creates free pages: inserts large rows and deletes them.
  public static func makeRoom(at folder: String) async throws {
    let store = try openStore(at: folder)
    let ids = try await store.write { transaction in
      try (0..<40).map { number in
        try transaction.insert(
          "Sample", ["name": .string("room \(number)"), "blob": .data(Data(count: 20_000))])
      }
    }
    try await store.write { transaction in for id in ids { try transaction.delete(id) } }
  }

  /// Checks a store in full.
  ///
  /// - Returns: its rows.
  /// - Throws: `Broken`.
  public static func rows(at folder: String) throws -> Int {
    let report = try Store.check(at: folder)
    guard report.isClean else {
      throw Broken(
        description: "\(report.problems) \(report.integrity?.problems.map(\.description) ?? [])")
    }
    var options = Store.Options()
    options.isReadOnly = true
    let store = try Store.open(at: folder, options: options)
    return try store.read { transaction in
      let records = try transaction.count(of: "Sample")
      guard let counter = try transaction.get("Sample", by: ["name": "counter"]) else {
        if records == 0 { return 0 }
        throw Broken(description: "\(records) records and no counter")
      }
      guard case .int64(let count) = try counter["rank"], records == Int(count) + 1 else {
        throw Broken(description: "\(records) records, counted \(try counter["rank"].text)")
      }
      for number in 0..<count {
        guard try transaction.get("Sample", by: ["name": .string("n\(number)")]) != nil else {
          throw Broken(description: "row \(number) of \(count) is missing")
        }
      }
      return Int(count)
    }
  }

  private static func row(_ number: Int64) -> [String: Value] {
    [
      "name": .string("n\(number)"), "rank": .int64(number % 7),
      "title": .string(String(repeating: "t", count: Int(number * 37 % 400))),
      "tags": .strings(["a\(number % 5)"]),
    ]
  }
}
