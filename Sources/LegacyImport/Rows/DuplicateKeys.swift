import Foundation

/// The rows whose key an earlier row has. If the schema does not ensure unique keys, the table is
/// read once before the import. Of the rows that become records, the first one with a key keeps it.
struct DuplicateKeys {
  /// The first row of each key that several rows have, by table.
  private var firsts: [String: [RowIdentity: RowPosition]] = [:]

  /// - Throws: `mapping` where so many rows share keys that it is none.
  init(
    in database: SourceDatabase, _ bound: BoundMapping, source: Int64,
    isCancelled: () -> Bool
  ) throws {
    for table in bound.tables
    where !table.table.isUnique(table.key.map { table.columns[$0] }) {
      firsts[table.table.name] = try Self.firsts(of: table, database, source, isCancelled)
    }
  }

  /// Returns true if an earlier row has the key.
  func contains(_ identity: RowIdentity, _ position: RowPosition, table: String) -> Bool {
    if firsts.isEmpty { return false }
    guard let first = firsts[table]?[identity] else { return false }
    return first != position
  }

  private static func firsts(
    of table: BoundTable, _ database: SourceDatabase, _ source: Int64, _ isCancelled: () -> Bool
  ) throws -> [RowIdentity: RowPosition] {
    let keys = try ScratchKeys(in: database.scratchFolder)
    var repeated: Set<RowIdentity> = []
    try eachKey(of: table, database, source, isCancelled) { identity, _ in
      guard try !keys.insert(identity.bytes, in: 0) else { return }
      repeated.insert(identity)
      guard repeated.count <= Limits.repeatedKeysMax else {
        throw ImportError.inMapping(
          "the key of a table is shared by too many rows",
          [
            ("table", table.table.name),
            ("key", table.key.map { table.columns[$0] }.joined(separator: ", ")),
          ],
          advice: "choose another key in the mapping, for example rowid")
      }
    }
    var firsts: [RowIdentity: RowPosition] = [:]
    if repeated.isEmpty { return firsts }
    try eachKey(of: table, database, source, isCancelled) { identity, position in
      if repeated.contains(identity), firsts[identity] == nil { firsts[identity] = position }
    }
    return firsts
  }

  private static func eachKey(
    of table: BoundTable, _ database: SourceDatabase, _ source: Int64, _ isCancelled: () -> Bool,
    _ body: (RowIdentity, RowPosition) throws -> Void
  ) throws {
    let table = try table.slim(relationship: nil)
    let reader = try database.rows(of: table.table, columns: table.columns)
    while let row = try reader.next() {
      if isCancelled() { throw CancellationError() }
      guard table.parts.contains(where: { $0.takes(row) }),
        let identity = RowIdentity(
          source: source, table: table.identityName, key: table.key(of: row))
      else { continue }
      try body(identity, row.position)
    }
  }
}
