import EntityModel
import Foundation

/// Converts the cells of one attribute to its values. The rules are prepared once for all rows.
///
/// A class, as it is looked at for each cell, and a copy would take a reference to all that it
/// holds. Not `Sendable`: a compiled pattern is not.
final class AttributeRule {
  private let mapping: AttributeMapping
  private let contents: CellContents
  private let validator: AttributeValidator
  private let constant: Value
  private let cell: Int?
  private let kind: ValueKind
  /// True if a cell of the right kind is the value.
  private let isPlain: Bool

  init(
    _ attribute: BoundEntity.Attribute, _ description: AttributeDescription,
    _ contents: CellContents
  ) throws {
    mapping = attribute.mapping
    self.contents = contents
    validator = try AttributeValidator(description)
    cell = attribute.cell
    kind = mapping.type.kind
    isPlain = mapping.content == .value && mapping.conversion == .none
    constant = if case .constant(let value) = mapping.source { value } else { .null }
  }

  /// Returns the value of a row, which satisfies the rules of the attribute.
  func value(of row: SourceRow) throws(Reject) -> Value {
    let value = try converted(row)
    guard let failure = validator.failure(of: value) else { return value }
    let code: Reject.Code = if case .required = failure { .nullRequired } else { .invalid }
    throw Reject(code, mapping.attribute, "\(failure)")
  }

  /// Returns true if the row can be imported without the value that was rejected: its file is
  /// missing, and the attribute is optional.
  func canLack(_ reject: Reject) -> Bool {
    reject.code == Reject.Code.externalMissing.rawValue && mapping.missingFile != .rejectRow
      && validator.failure(of: .null) == nil
  }

  private func converted(_ row: SourceRow) throws(Reject) -> Value {
    guard let cell else { return constant }
    // The greater part of all cells.
    if isPlain {
      switch row.cells[cell] {
      case .text(let text) where kind == .string: return .string(text)
      case .integer(let number) where kind == .int64: return .int64(number)
      case .real(let number) where kind == .double: return .double(number)
      case .null: return .null
      default: break
      }
    }
    let found = try contents.value(of: row.cells[cell], as: mapping)
    if isPlain, found.kind == kind { return found }
    do {
      return try mapping.conversion.value(from: found, to: mapping.type)
    } catch {
      throw Reject(code: error.code.rawValue, mapping.attribute, error.description)
    }
  }
}
