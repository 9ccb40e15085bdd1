import EntityModel

/// Checks that a `-wal` belongs to a Core Data store, by the identity of the store: it is the same
/// in the main file alone and with its log.
struct StoreIdentity {
  let copy: String
  let connection: SQLiteConnection
  let tables: [SourceTable]

  /// - Returns: A warning, on one line.
  func foreignLog() throws -> String? {
    guard tables.contains(where: { $0.name == "Z_METADATA" && $0.column("Z_UUID") != nil }) else {
      return nil
    }
    // Nothing writes the copy, and its main file is what it was without the log.
    let main = try SQLiteConnection(ignoringLogOf: copy)
    guard let alone = Self.read(main), let together = Self.read(connection), alone != together
    else { return nil }
    return
      "the -wal is of another store: the file has the identity \(alone), the -wal \(together); "
      + "what is read is of the other store"
  }

  /// Returns the identity; `nil` if there is none or it cannot be read. The table may have come
  /// with the log, and this only warns.
  private static func read(_ connection: SQLiteConnection) -> String? {
    guard let statement = try? connection.prepare("SELECT Z_UUID FROM Z_METADATA LIMIT 1"),
      (try? statement.step()) == true, case .text(let identity)? = try? statement.cell(0)
    else { return nil }
    return String(identity.prefix(36)).onOneLine
  }
}
