import EntityModel
import EntityStore
import Foundation
import TextFormats

/// Writes the rejects of one import within a transaction.
struct RejectLog {
  let source: Int64
  let run: Int64
  let transaction: WriteTransaction

  func add(_ rejected: RejectedRow, of table: BoundTable) throws {
    let row = Self.text(of: rejected.row, table.columns)
    for reject in rejected.rejects {
      try add(
        reject, entity: table.parts[rejected.part].mapping.entity, table: table.table.name,
        key: rejected.key, identity: rejected.identity, row: row)
    }
  }

  func add(
    _ reject: Reject, entity: String, table: String, key: [Cell], identity: RowIdentity?,
    row: String, isLink: Bool = false
  ) throws {
    try transaction.insert(
      ImportRecords.reject,
      [
        "source": .int64(source), "run": .int64(run),
        "identity": identity.map { .data($0.data) } ?? .null, "isLink": .bool(isLink),
        "table": .string(table),
        "key": .string(RowIdentity.excerpt(of: key)), "entity": .string(entity),
        "property": reject.property.map(Value.string) ?? .null, "code": .string(reject.code),
        "message": .string(reject.message), "row": .string(row),
      ])
  }

  /// Returns a row as JSON, with long values cut.
  static func text(of row: SourceRow, _ columns: [String]) -> String {
    JSONLiteral.object(columns, row.cells.map(\.excerpt))
  }
}

/// Finds the rejects of a row.
struct RejectSearch {
  private let snapshot: ReadTransaction
  private let rejects: EntityLayout

  init(in snapshot: ReadTransaction) throws {
    self.snapshot = snapshot
    rejects = try snapshot.layout(ImportRecords.reject)
  }

  /// Returns true if the row itself was rejected.
  func contains(_ identity: RowIdentity) throws -> Bool {
    let isLink = try rejects.position(of: "isLink")
    return try any(identity) { try $0.value(isLink) == .bool(false) }
  }

  /// Returns true if a link of the row was rejected for this reason.
  func contains(_ identity: RowIdentity, link: String, _ reason: Reject.Code) throws -> Bool {
    let isLink = try rejects.position(of: "isLink")
    let property = try rejects.position(of: "property")
    let code = try rejects.position(of: "code")
    return try any(identity) {
      try $0.value(isLink) == .bool(true) && $0.value(property) == .string(link)
        && $0.value(code) == .string(reason.rawValue)
    }
  }

  private func any(_ identity: RowIdentity, _ isMeant: (StoredRow) throws -> Bool) throws -> Bool {
    let cursor = try IndexPrefixCursor(
      try rejects.index(named: "byIdentity"), of: rejects,
      leading: [.data(identity.data)], in: snapshot)
    while let number = try cursor.next() {
      if let row = try snapshot.row(number, of: rejects), try isMeant(row) { return true }
    }
    return false
  }
}
