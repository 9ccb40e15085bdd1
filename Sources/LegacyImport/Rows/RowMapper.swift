import EntityModel
import EntityStore
import Foundation

/// The outcome of a row, before the store is read.
enum RowOutcome {
  case accepted(MappedRow)
  case rejected(RejectedRow)
  /// No entity of the mapping takes the row.
  case skipped
}

struct MappedRow {
  /// The part of the table.
  let part: Int
  let identity: RowIdentity
  let key: [Cell]
  /// The values in the order of the part's attributes.
  let values: [Value]
  /// A hash of the values and of the cells that lead to other rows.
  let hash: Int64
  /// A hash of the values alone.
  let digest: Int64
  /// The values whose files are missing, by the number of the attribute. They are null in `values`,
  /// and a record that has such a value already keeps it.
  let missing: [Int: Reject]
  /// The row of the source.
  let row: SourceRow

  /// Returns the missing values as rejects of a row that is imported nevertheless; `nil` if there
  /// are none to report.
  func withoutValues(_ entity: BoundEntity) -> RejectedRow? {
    let reported = missing.sorted { $0.key < $1.key }
      .filter { entity.attributes[$0.key].mapping.missingFile == .reject }
    if reported.isEmpty { return nil }
    // The identity would mark the row itself as rejected.
    return RejectedRow(
      part: part, identity: nil, key: key, rejects: reported.map(\.value), row: row)
  }

  /// Returns the row as a rejected one.
  func rejected(for reject: Reject) -> RejectedRow {
    RejectedRow(part: part, identity: identity, key: key, rejects: [reject], row: row)
  }
}

struct RejectedRow {
  let part: Int
  let identity: RowIdentity?
  let key: [Cell]
  let rejects: [Reject]
  let row: SourceRow
}

/// Converts the rows of a table to values of its entities and checks their rules, outside of any
/// transaction.
///
/// Not `Sendable`: a compiled pattern is not. Each walk of a table has its own.
final class RowMapper {
  private let table: BoundTable
  private let source: Int64
  /// The rules of the attributes, by part.
  private let rules: [[AttributeRule]]
  private var digest = ValueDigest()

  /// - Parameter source: The number of the _Import.
  init(_ table: BoundTable, source: Int64, contents: CellContents) throws {
    self.table = table
    self.source = source
    rules = try table.parts.map { part in
      try part.attributes.map {
        try AttributeRule($0, part.layout.description.attributes[$0.position], contents)
      }
    }
  }

  func map(_ row: SourceRow) -> RowOutcome {
    guard let part = table.parts.firstIndex(where: { $0.takes(row) }) else { return .skipped }
    let key = table.key(of: row)
    let identity = RowIdentity(source: source, table: table.identityName, key: key)
    var rejects: [Reject] = []
    if identity == nil {
      rejects.append(Reject(.nullKey, table.columns[table.key[0]], "a part of the key is null"))
    }
    let entity = table.parts[part]
    var values: [Value] = []
    values.reserveCapacity(rules[part].count)
    var missing: [Int: Reject] = [:]
    for (number, rule) in rules[part].enumerated() {
      do throws(Reject) {
        values.append(try rule.value(of: row))
      } catch {
        if rule.canLack(error) { missing[number] = error } else { rejects.append(error) }
        values.append(.null)
      }
    }
    guard let identity, rejects.isEmpty else {
      return .rejected(
        RejectedRow(part: part, identity: identity, key: key, rejects: rejects, row: row))
    }
    digest.removeAll()
    for value in values { digest.append(value) }
    let ofValues = digest.hash
    for cell in entity.references { digest.append(row.cells[cell]) }
    return .accepted(
      MappedRow(
        part: part, identity: identity, key: key, values: values,
        hash: entity.references.isEmpty ? ofValues : digest.hash,
        digest: ofValues, missing: missing, row: row))
  }
}
