import EntityModel
import EntityStore
import Foundation
import SystemSupport

/// The names of the system entities of imports. Their attributes are described in
/// System/0001_import.yaml.
enum ImportRecords {
  static let source = "_Import"
  static let row = "_ImportedRow"
  static let reject = "_ImportReject"
}

/// The ledger's row of a source row that has become a record.
struct LedgerEntry {
  /// The number of the _ImportedRow.
  let number: Int64
  let entity: String
  let object: Int64
  let hash: Int64
  /// The run that last wrote the record.
  let run: Int64
  /// True if the record may have been taken for the row by the values of a `match`.
  let isMatched: Bool
  let links: LinkHashes

  var objectID: ObjectID { ObjectID(entity: entity, number: object) }
}

/// The ledger of one import within a transaction: which row of the source has become which record.
struct ImportLedger {
  private let snapshot: ReadTransaction
  private let rows: EntityLayout
  private let byIdentity: IndexLayout
  private let byMatched: IndexLayout
  private let places: Places

  /// The positions of the attributes.
  private struct Places {
    let identity, source, table, key, entity, object, hash, run, matched, links: Int

    init(_ layout: EntityLayout) throws {
      identity = try layout.position(of: "identity")
      source = try layout.position(of: "source")
      table = try layout.position(of: "table")
      key = try layout.position(of: "key")
      entity = try layout.position(of: "entity")
      object = try layout.position(of: "object")
      hash = try layout.position(of: "hash")
      run = try layout.position(of: "run")
      matched = try layout.position(of: "matched")
      links = try layout.position(of: "links")
    }
  }

  init(in snapshot: ReadTransaction) throws {
    self.snapshot = snapshot
    rows = try snapshot.layout(ImportRecords.row)
    byIdentity = try rows.index(named: "byIdentity")
    byMatched = try rows.index(named: "byMatched")
    places = try Places(rows)
  }

  /// - Complexity: O(log *n*).
  func entry(of identity: RowIdentity) throws -> LedgerEntry? {
    let value = Value.data(identity.data)
    guard
      let number = try snapshot.identifier(in: rows, index: byIdentity, by: { _ in value }),
      let row = try snapshot.row(number, of: rows)
    else { return nil }
    return try entry(row)
  }

  /// Returns the row of the ledger with this number.
  func entry(at number: Int64) throws -> LedgerEntry? {
    try snapshot.row(number, of: rows).map(entry)
  }

  /// Returns true if a record has been taken for another row already.
  func isMatched(_ object: ObjectID) throws -> Bool {
    try snapshot.identifier(in: rows, index: byMatched) { position in
      position == places.entity ? .string(object.entity) : .int64(object.number)
    } != nil
  }

  private func entry(_ row: StoredRow) throws -> LedgerEntry {
    guard case .string(let entity) = try row.value(places.entity),
      let object = row.int64(places.object), let hash = row.int64(places.hash),
      let run = row.int64(places.run)
    else {
      throw StoreError.damaged(
        "a row of the import ledger is unreadable", entity: rows.name, id: row.id)
    }
    var links = LinkHashes()
    if case .data(let data) = try row.value(places.links) { links = LinkHashes(data) }
    return LedgerEntry(
      number: row.id, entity: entity, object: object, hash: hash, run: run,
      isMatched: row.int64(places.matched) != nil, links: links)
  }

  /// Calls the closure with each row of one source, in order of number.
  ///
  /// - Parameter numbers: Of rows that are left out, of which no more is read.
  func each(
    of source: Int64, besides numbers: NumberSet = NumberSet(),
    _ body: (LedgerEntry, _ table: String, _ key: String) throws -> Void
  ) throws {
    try snapshot.eachRow(of: rows) { row in
      guard row.int64(places.source) == source, !numbers.contains(row.id) else { return true }
      guard case .string(let table) = try row.value(places.table),
        case .string(let key) = try row.value(places.key)
      else {
        throw StoreError.damaged(
          "a row of the import ledger is unreadable", entity: rows.name, id: row.id)
      }
      try body(try entry(row), table, key)
      return true
    }
  }

  // MARK: Writing

  /// Adds a row that has become a record.
  ///
  /// - Parameter isMatching: Whether records are matched with rows, so that no other row may take
  ///   it.
  func add(
    _ mapped: MappedRow, table: String, source: Int64, object: ObjectID, run: Int64,
    isMatching: Bool, in transaction: WriteTransaction
  ) throws {
    var row = rows.newRow()
    row[places.identity] = .data(mapped.identity.data)
    row[places.source] = .int64(source)
    row[places.table] = .string(table)
    row[places.key] = .string(RowIdentity.excerpt(of: mapped.key))
    row[places.entity] = .string(object.entity)
    row[places.object] = .int64(object.number)
    row[places.hash] = .int64(mapped.hash)
    row[places.run] = .int64(run)
    if isMatching { row[places.matched] = .int64(object.number) }
    _ = try transaction.insert(row, into: rows)
  }

  /// Updates a row whose record or lists have been written.
  func update(
    _ entry: LedgerEntry, hash: Int64, run: Int64, links: LinkHashes,
    in transaction: WriteTransaction
  ) throws {
    guard var row = try transaction.row(entry.number, of: rows)?.values() else {
      throw StoreError.damaged(
        "a row of the import ledger is missing", entity: rows.name, id: entry.number)
    }
    row[places.hash] = .int64(hash)
    row[places.run] = .int64(run)
    row[places.links] = links.data.map(Value.data) ?? .null
    try transaction.update(row, id: entry.number, in: rows)
  }

  /// Removes a row whose record is gone.
  func remove(_ entry: LedgerEntry, in transaction: WriteTransaction) throws {
    try transaction.delete(ObjectID(entity: ImportRecords.row, number: entry.number))
  }
}

/// The hashes of a record's to-many lists when they were last written, one for each relationship.
struct LinkHashes: Hashable {
  private var hashes: [UInt32: Int64] = [:]

  init() {}

  init(_ data: Data) {
    var rest = data[...]
    while rest.count >= 12 {
      hashes[Self.number(rest.prefix(4))] = Int64(
        bitPattern: Self.number(rest.dropFirst(4).prefix(8)))
      rest = rest.dropFirst(12)
    }
  }

  subscript(relationship: String) -> Int64? {
    get { hashes[Self.tag(relationship)] }
    set { hashes[Self.tag(relationship)] = newValue }
  }

  /// The stored bytes; `nil` without hashes.
  var data: Data? {
    if hashes.isEmpty { return nil }
    var data = Data()
    for (tag, hash) in hashes.sorted(by: { $0.key < $1.key }) {
      withUnsafeBytes(of: tag.bigEndian) { data.append(contentsOf: $0) }
      withUnsafeBytes(of: hash.bigEndian) { data.append(contentsOf: $0) }
    }
    return data
  }

  private static func tag(_ name: String) -> UInt32 {
    UInt32(truncatingIfNeeded: ContentHash.of(name))
  }

  private static func number<N: FixedWidthInteger>(_ bytes: Data) -> N {
    bytes.reduce(0) { $0 << 8 | N(truncatingIfNeeded: $1) }
  }
}
