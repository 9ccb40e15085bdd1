import EntityModel
import LMDB

extension ReadTransaction {
  /// Calls the closure with every record in order of record id, until it returns `false`.
  ///
  /// - Throws: `damaged` at the first unreadable record; a storage failure; the error of the
  ///   closure.
  package func eachRow(of entity: EntityLayout, _ body: (StoredRow) throws -> Bool) throws {
    _ = try scanRecords(of: entity, after: .min) { id, view in
      try countVisit()
      return try body(StoredRow(view: view, entity: entity, id: id))
    }
  }

  /// Calls the closure with the stored records after a given one, in order of their ids, until it
  /// returns `false`. A view is valid only during the call, and until the closure writes. A write
  /// transaction may change and delete records of the entity during the scan.
  ///
  /// - Parameter last: The id after which the scan begins; `.min` for all records.
  /// - Returns: True if the closure has ended the scan; there may be more records then.
  /// - Throws: The errors of the closure; `damaged` for a record that is unreadable; a storage
  ///   failure.
  package final func scanRecords(
    of entity: EntityLayout, after last: Int64, _ body: (Int64, RecordView) throws -> Bool
  ) throws -> Bool {
    guard last < .max else { return false }
    // LMDB keeps the cursor at its position through every change of the tree.
    var cursor = try transaction.cursor(entity.tree)
    var entry = try RecordKey.with(last + 1) { try cursor.seek(atLeast: $0) }
    while let found = entry {
      guard let id = RecordKey.objectID(found.key), let view = entity.record.view(of: found.value)
      else { throw StoreError.damaged("a record is unreadable", entity: entity.name) }
      if verifiesReads { try entity.verify(found.value, id: id) }
      if try !body(id, view) { return true }
      entry = try cursor.next()
    }
    return false
  }

  /// Calls the closure with every record of an entity in order of record id, until it returns
  /// `false`. Unlike a fetch, it does not stop at a damaged record: the closure gets the error when
  /// it reads that record. Memory is bounded by one record.
  ///
  /// - Parameter first: The id to begin with, or with the next one that exists.
  /// - Throws: `unknownEntity`, a storage failure; the error of the closure.
  package func forEachStored(
    _ entity: String, from first: Int64? = nil, _ body: (StoredRecord) throws -> Bool
  ) throws {
    let entity = try catalog.entity(entity)
    var cursor = try transaction.cursor(entity.tree)
    var entry =
      if let first { try RecordKey.with(first) { try cursor.seek(atLeast: $0) } } else {
        try cursor.first()
      }
    while let found = entry {
      let record = StoredRecord(key: found.key, bytes: found.value, entity: entity)
      guard try body(record) else { return }
      entry = try cursor.next()
    }
  }

  /// Calls the closure with the id and the bytes of every row of an entity, which may be damaged.
  /// The bytes are valid only during the call.
  ///
  /// - Parameter body: Its id is `nil` if the key is not that of a record.
  package final func scanRows(
    of entity: EntityLayout, _ body: (_ id: Int64?, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var cursor = try transaction.cursor(entity.tree)
    var entry = try cursor.first()
    while let found = entry {
      try body(RecordKey.objectID(found.key), found.value)
      entry = try cursor.next()
    }
  }

  /// Calls the closure with every entry of a tree in key order, until it returns `false`: of a
  /// snapshot by its pages, up to one that is damaged, and from there on by a cursor, which finds
  /// the damage.
  @inline(__always)
  final func eachEntry(of tree: Tree, _ body: (Cursor.Entry) throws -> Bool) throws {
    var last: UnsafeRawBufferPointer?
    if let snapshot = transaction as? TreeReader, var leaves = try snapshot.leaves(of: tree) {
      var isDamaged = false
      while !isDamaged, let leaf = leaves.next() {
        for place in 0..<leaf.count {
          guard let entry = leaf.entry(at: place) else {
            isDamaged = true
            break
          }
          guard try body(entry) else { return }
          last = entry.key
        }
      }
      if !isDamaged, !leaves.isDamaged { return }
    }
    var cursor = try transaction.cursor(tree)
    var entry = try last.map { try cursor.seek(atLeast: $0) } ?? cursor.first()
    if let last, let found = entry, compare(found.key, last) == 0 { entry = try cursor.next() }
    while let found = entry {
      guard try body(found) else { return }
      entry = try cursor.next()
    }
  }

  // MARK: Record ids

  /// Returns the greatest record id of the entity; `nil` if it has no records.
  package func lastNumber(of entity: EntityLayout) throws -> Int64? {
    var cursor = try transaction.cursor(entity.tree)
    return try cursor.last().flatMap { RecordKey.objectID($0.key) }
  }

  /// Returns the greatest record id below a given one; `nil` if there is none.
  ///
  /// - Complexity: O(log *n*).
  package func number(before number: Int64, of entity: EntityLayout) throws -> Int64? {
    var cursor = try transaction.cursor(entity.tree)
    return try RecordKey.with(number) { key in
      try cursor.seek(below: key).flatMap { RecordKey.objectID($0.key) }
    }
  }
}
