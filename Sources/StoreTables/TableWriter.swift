package import EntityStore
import PostgreSQL
package import StoreHub

/// Writes tables for readers of SQL, one for each entity that was named.
///
/// All tables show one commit of the store. An update is one transaction of the database: it locks
/// the position, writes what the history has after it, and stores the new position. So a kill at
/// any moment neither loses nor repeats a change, and a second writer waits and then goes on from
/// where the first has ended. The history says which records have changed; their values come from
/// the snapshot that the new position is of.
package struct TableWriter: Sendable {
  private let store: Store
  private let address: HubAddress
  private let connections: HubConnections

  /// - Parameter address: That with which the store was opened.
  package init(_ store: Store, of address: HubAddress) {
    self.store = store
    self.address = address
    connections = HubConnections(address.database)
  }

  /// Brings all tables up to the newest commit of the hub, and makes those that are missing.
  ///
  /// All rows of a table are written when it is new, when its entity has other attributes, and
  /// when the history no longer has all changes. Memory is bounded by a thousand rows, and by the
  /// changes of one transaction, of which ids are kept.
  ///
  /// - Parameters:
  ///   - entities: Those that get a table if they have none.
  ///   - readers: The roles that may read the tables from now on; `public` for all.
  ///   - progress: Called between statements; its error ends the update, which changes nothing.
  /// - Throws: `StoreError` with `.unknownEntity`, of reading or of the hub; `StorageError` with
  ///   `.unreachable`; `TablesError`; the errors of `progress`. The tables are then unchanged,
  ///   unless the answer to the commit was lost.
  package func update(
    adding entities: [String] = [], readers: [String] = [],
    progress: (TablesProgress) throws -> Void = { _ in }
  ) throws -> TablesReport {
    let session = try TablesSession(address, on: connections)
    if entities.isEmpty, try !session.hasSchema() { throw Self.noTables }
    if !entities.isEmpty { try store.catchUp() }
    for entity in entities { _ = try store.read { try TableShape($0.description(of: entity)) } }
    try session.prepare(readers: readers)
    let state = try session.begin()
    // The position may be that of a commit which this machine does not have yet.
    try store.catchUp()
    let report = try store.read { transaction in
      try withoutActuallyEscaping(progress) { progress in
        var update = try TableUpdate(
          transaction, session, state, adding: entities, progress: progress)
        return try update.run(machine: address.membership.machineName)
      }
    }
    session.end()
    return report
  }

  /// Drops tables; without names all of them, and their schema.
  ///
  /// - Returns: The names of the dropped tables, as they are written in SQL.
  /// - Throws: `TablesError` with `.noTables`, `.inUse`, `.busy`; `StorageError`.
  package func drop(_ entities: [String]) throws -> [String] {
    let session = try TablesSession(address, on: connections)
    guard try session.hasSchema() else { throw Self.noTables }
    let tables = try session.begin().tables
    for entity in entities where !tables.contains(where: { $0.name == entity }) {
      throw TablesError(
        .noTables, "the entity has no table", [("entity", entity)],
        advice: "`mooring hub tables` lists the tables")
    }
    let dropped = tables.filter { entities.isEmpty || entities.contains($0.name) }
    try session.execute(dropped.flatMap(session.drop) + ["SELECT 1"])
    if dropped.count == tables.count {
      try session.dropSchema()
    } else {
      try session.execute([.commit])
    }
    return dropped.map { session.table($0.name) }
  }

  static let noTables = TablesError(
    .noTables, "the hub has no tables", advice: "name an entity with --entity")
}
