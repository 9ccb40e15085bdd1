import EntityModel
import EntityStore
import PostgreSQL
import TextFormats

/// One update of the tables, within a transaction of the database and on a snapshot of the store.
struct TableUpdate {
  private struct Table {
    let entity: EntityLayout
    let shape: TableShape
    /// The table that exists, if there is one.
    let stored: TablesSession.StoredTable?
    /// True for a table that is made, or emptied, and filled from the snapshot.
    var isFilled: Bool
    /// The records that have changed, and were not written yet.
    var changed: Set<Int64> = []
    var written = 0
    var removed = 0

    /// True if the stored table has other columns, or another name.
    var isReplaced: Bool { stored?.shape != shape.text || stored?.name != shape.name }
    /// The name of a table that is being made. Readers use the old one until the commit.
    var newName: String { "_new_\(entity.description.id)" }
  }

  private let transaction: ReadTransaction
  private let session: TablesSession
  private let token: HistoryToken?
  private let progress: (TablesProgress) throws -> Void
  private var tables: [Table] = []
  /// The tables whose entities no longer exist.
  private var orphans: [TablesSession.StoredTable] = []

  /// The changed records of a table that are written together.
  private static let changesMax = 1_000

  init(
    _ transaction: ReadTransaction, _ session: TablesSession, _ state: TablesSession.State,
    adding entities: [String], progress: @escaping (TablesProgress) throws -> Void
  ) throws {
    self.transaction = transaction
    self.session = session
    self.progress = progress
    token = state.token
    for stored in state.tables {
      if let entity = transaction.schema.entities.first(where: { $0.id == stored.entityID }) {
        try add(entity, stored)
      } else {
        orphans.append(stored)
      }
    }
    for name in entities where !tables.contains(where: { $0.shape.name == name }) {
      try add(try transaction.description(of: name), nil)
    }
    if tables.isEmpty, orphans.isEmpty { throw TableWriter.noTables }
  }

  private mutating func add(
    _ entity: EntityDescription, _ stored: TablesSession.StoredTable?
  ) throws {
    var table = Table(
      entity: try transaction.layout(entity.name), shape: try TableShape(entity), stored: stored,
      isFilled: token == nil)
    table.isFilled = table.isFilled || table.isReplaced
    tables.append(table)
  }

  /// Writes the tables and commits.
  mutating func run(machine: String) throws -> TablesReport {
    let now = try transaction.historyToken()
    if token == now, orphans.isEmpty, !tables.contains(where: \.isFilled) {
      try session.rollBack()
      return try report()
    }
    try follow()
    for place in tables.indices where tables[place].isFilled { try fill(place) }
    try session.execute(
      replacements() + session.end(at: now, machine: machine), within: TablesSession.wholeTableMax)
    return try report()
  }

  // MARK: Following

  private mutating func follow() throws {
    let places = Dictionary(
      uniqueKeysWithValues: tables.indices.filter { !tables[$0].isFilled }
        .map { (tables[$0].shape.name, $0) })
    guard !places.isEmpty, let token else { return }
    do {
      try transaction.forEachHistory(after: token, of: Set(places.keys)) { change in
        try note(change, places)
        return true
      }
    } catch let error as StoreError where [.expiredToken, .invalidToken].contains(error.code) {
      for place in places.values { tables[place].isFilled = true }
    }
    for place in places.values { try writeChanged(place) }
  }

  private mutating func note(
    _ transaction: HistoryTransaction, _ places: [String: Int]
  ) throws {
    for change in transaction.changes {
      guard let place = places[change.objectID.entity] else { continue }
      tables[place].changed.insert(change.objectID.number)
      if tables[place].changed.count >= Self.changesMax { try writeChanged(place) }
    }
    for entity in transaction.unrecordedEntities {
      if let place = places[entity] { tables[place].isFilled = true }
    }
  }

  /// Writes the values that the changed records have in the snapshot. A record that changes again
  /// later gets the same values once more.
  private mutating func writeChanged(_ place: Int) throws {
    let ids = tables[place].changed.sorted()
    tables[place].changed.removeAll(keepingCapacity: true)
    if tables[place].isFilled || ids.isEmpty { return }
    let table = tables[place]
    let name = session.table(table.shape.name)
    let statement = table.shape.replacement(in: name)
    var rows = RowWriter(table.shape)
    var deleted: [Int64] = []
    for id in ids {
      if let record = try transaction.get(ObjectID(entity: table.shape.name, number: id)) {
        try append(record, to: &rows)
        tables[place].written += 1
        if rows.isFull { try session.execute([Statement(statement, .text(rows.take()))]) }
      } else {
        deleted.append(id)
      }
    }
    var statements: [Statement] = []
    if !rows.isEmpty { statements.append(Statement(statement, .text(rows.take()))) }
    if !deleted.isEmpty {
      let list = deleted.map(String.init).joined(separator: ",")
      statements.append(
        Statement(
          "DELETE FROM \(name) WHERE \"_id\" = ANY($1::bigint[])", try .inferred("{\(list)}")))
      tables[place].removed += deleted.count
    }
    if !statements.isEmpty { try session.execute(statements) }
    try progress(
      TablesProgress(
        entity: table.shape.name, done: tables[place].written + tables[place].removed, total: nil))
  }

  // MARK: Filling

  private mutating func fill(_ place: Int) throws {
    let table = tables[place]
    let name = session.table(table.isReplaced ? table.newName : table.shape.name)
    try session.execute(
      [Statement(table.isReplaced ? table.shape.creation(of: name) : "DELETE FROM \(name)")],
      within: TablesSession.wholeTableMax)
    let statement = table.shape.insertion(into: name)
    let total = try transaction.count(of: table.shape.name)
    var rows = RowWriter(table.shape)
    var written = 0
    _ = try transaction.scanRecords(of: table.entity, after: .min) { id, view in
      try append(try Record(view, id: id, of: table.entity), to: &rows)
      if rows.isFull {
        written += rows.count
        try session.execute([Statement(statement, .text(rows.take()))])
        try progress(TablesProgress(entity: table.shape.name, done: written, total: total))
      }
      return true
    }
    written += rows.count
    if !rows.isEmpty { try session.execute([Statement(statement, .text(rows.take()))]) }
    tables[place].written = written
    tables[place].removed = 0
  }

  private func append(_ record: Record, to rows: inout RowWriter) throws {
    try rows.append(id: record.id.number, record.values) { relationship in
      try transaction.related(record.id, relationship).map(\.number)
    }
  }

  /// Puts the new tables in place of the old ones, whose names they may have exchanged.
  private func replacements() -> [Statement] {
    let replaced = tables.filter { $0.isFilled && $0.isReplaced }
    let drops = (orphans + replaced.compactMap(\.stored)).flatMap(session.drop)
    let names = replaced.flatMap { table in
      [
        Statement(
          "ALTER TABLE \(session.table(table.newName)) RENAME TO \(table.shape.name.sqlName)"),
        Statement("ALTER TABLE \(session.table(table.shape.name)) ADD PRIMARY KEY (\"_id\")"),
        session.note(table.entity.description.id, table.shape),
      ]
    }
    return drops + names
  }

  private func report() throws -> TablesReport {
    TablesReport(
      tables: try tables.map { table in
        TablesReport.Table(
          name: session.table(table.shape.name),
          rows: try transaction.count(of: table.shape.name), written: table.written,
          removed: table.removed, isFilled: table.isFilled)
      },
      dropped: orphans.map { session.table($0.name) }, commit: transaction.commitNumber)
  }
}
