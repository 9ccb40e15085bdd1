public import EntityModel

/// One row of a fetch that asks for columns: a copy, independent of any transaction.
public struct ResultRow: Sendable, Hashable, CustomStringConvertible {
  private let columns: ResultColumns
  /// The values in the order of the columns.
  public let values: [Value]

  init(_ columns: ResultColumns, _ values: [Value]) {
    self.columns = columns
    self.values = values
  }

  public var names: [String] { columns.names }

  /// Returns the value of a column.
  ///
  /// - Throws: `unknownAttribute` if the request has no such column.
  public subscript(_ name: String) -> Value {
    get throws(StoreError) {
      guard let position = columns.positions[name] else {
        throw StoreError(
          .unknownAttribute, "no such column", [("column", name)],
          advice: "the request has " + names.joined(separator: ", "))
      }
      return values[position]
    }
  }

  /// The names and values in the order of the columns.
  public var fields: [(name: String, value: Value)] { Array(zip(names, values)) }

  public var description: String {
    fields.map { "\($0.name): \($0.value.text)" }.joined(separator: ", ")
  }

  /// Returns true if the columns of both rows have the same names and values.
  public static func == (left: ResultRow, right: ResultRow) -> Bool {
    left.names == right.names && left.values == right.values
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

/// The column names that the rows of one fetch share.
final class ResultColumns: Sendable {
  let names: [String]
  let positions: [String: Int]

  /// Creates the names.
  ///
  /// - Throws: `invalidRequest` for two columns with the same name.
  init(_ names: [String]) throws(StoreError) {
    self.names = names
    positions = Dictionary(names.enumerated().map { ($1, $0) }) { first, _ in first }
    guard positions.count == names.count else {
      throw StoreError(
        .invalidRequest, "two columns have the same name",
        [("columns", names.joined(separator: ", "))], advice: "name each of them differently")
    }
  }
}
