public import EntityModel
import TextFormats

/// The content of one column of a row.
public enum RowCell: Sendable {
  case value(Value)
  /// Values by name, in the order of the names: a JSON object, in CSV as its text. A table shows no
  /// more than the beginning of each.
  case values([String: Value])
}

extension RowCell {
  /// The columns that a table gives one of several values.
  private static let shownWidthMax = 32

  var isNull: Bool { if case .value(.null) = self { true } else { false } }

  var isNumber: Bool {
    switch self {
    case .value(.int64), .value(.double), .value(.decimal): true
    case .value, .values: false
    }
  }

  /// The text in a table.
  var shown: String {
    switch self {
    case .value(let value): value.isNull ? "" : value.text
    case .values(let values):
      values.sorted { $0.key < $1.key }
        .map { "\($0.key)=\($0.value.text.singleLine.truncated(toWidth: Self.shownWidthMax))" }
        .joined(separator: "; ")
    }
  }

  /// The field in CSV; nil for a missing value.
  var field: String? {
    switch self {
    case .value(let value): value.csvField
    case .values: json
    }
  }

  var json: String {
    switch self {
    case .value(let value): return value.json
    case .values(let values):
      let members = values.sorted { $0.key < $1.key }
      return JSONLiteral.object(members.map(\.key), members.map(\.value.json))
    }
  }
}
