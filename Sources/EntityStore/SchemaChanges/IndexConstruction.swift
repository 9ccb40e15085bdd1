package import EntityModel
import LMDB

/// Fills an index next to its entity while other programs continue to write.
///
/// Sorted keys are appended. Concurrent writers record their changes of the entries in a side log
/// (see `EntityBuild`). At the end the side log is applied, in any number of transactions. The keys
/// of a record may come from any snapshot that is younger than the first entry of the side log,
/// because all later changes are in the side log.
package struct IndexConstruction: ~Copyable {
  package let entity: EntityLayout
  package let index: IndexLayout
  package let transaction: WriteTransaction
  private let sideLog: Tree
  private var writer = KeyWriter()

  /// Begins or continues the construction of an index.
  ///
  /// - Parameter index: An index of the entity's build.
  /// - Throws: `damaged` if the entity's build has no such index.
  package init(
    _ index: IndexDescription, of entity: EntityLayout, in transaction: WriteTransaction
  ) throws {
    let found = try entity.constructed(index)
    self.entity = entity
    self.index = found.index
    sideLog = found.sideLog
    self.transaction = transaction
  }

  /// Returns an appender that continues after a key.
  ///
  /// - Parameter last: The last key that was added; `nil` before the first.
  package func appender(after last: [UInt8]?) throws -> IndexAppender {
    try IndexAppender(index, sideLog: sideLog, after: last, in: transaction.writing)
  }

  /// Applies the side log to the index until it is empty or there is no more room.
  ///
  /// - Parameter rows: Raised by one for each entry, or for each value of a unique index.
  /// - Parameter hasRoom: Called after each of them; `false` ends the call.
  /// - Parameter resolve: Called with the ids of records that have equal values in a unique index,
  ///   in ascending order. Deletes all of them but one, and returns that one.
  /// - Returns: True if the side log has more entries.
  /// - Throws: The errors of `resolve`; `damaged`, `storage`.
  package mutating func catchUp(
    rows: inout Int64, while hasRoom: () -> Bool, resolve: ([Int64]) throws -> Int64
  ) throws -> Bool {
    while let (key, isPut) = try firstChange() {
      if index.isUnique {
        try catchUp(value: Array(key.dropLast(8)), resolve)
      } else {
        try key.withUnsafeBytes { key in
          if isPut {
            let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
            try transaction.writing.put(index.tree, key: key, value: nothing)
          } else {
            _ = try transaction.writing.delete(index.tree, key: key)
          }
          _ = try transaction.writing.delete(sideLog, key: key)
        }
      }
      rows += 1
      if !hasRoom() { return true }
    }
    return false
  }

  package var isCaughtUp: Bool { get throws { try transaction.writing.count(sideLog) == 0 } }

  private func firstChange() throws -> (key: [UInt8], isPut: Bool)? {
    var cursor = try transaction.writing.cursor(sideLog)
    guard let entry = try cursor.first() else { return nil }
    guard !index.isUnique || entry.key.count >= 8 else {
      throw StoreError.damaged(
        "an entry in the side log of an index is unreadable", entity: entity.name)
    }
    return (Array(entry.key), entry.value.first == 1)
  }

  /// Gives a unique value to the right record: among the records that ever had the value, it keeps
  /// those that still have it, and resolves conflicts between them.
  private mutating func catchUp(
    value: [UInt8], _ resolve: ([Int64]) throws -> Int64
  ) throws {
    let found = try candidates(for: value)
    let holders = try found.records.filter { try has($0, value) }.sorted()
    let holder = holders.count > 1 ? try resolve(holders) : holders.first
    try value.withUnsafeBytes { value in
      if let holder {
        try withUnsafeBytes(of: KeyWriter.ordered(holder).bigEndian) {
          try transaction.writing.put(index.tree, key: value, value: $0)
        }
      } else {
        _ = try transaction.writing.delete(index.tree, key: value)
      }
    }
    for key in found.entries {
      try key.withUnsafeBytes { _ = try transaction.writing.delete(sideLog, key: $0) }
    }
  }

  /// Returns the records that have or had a unique value, and the entries of the side log about it.
  private func candidates(
    for value: [UInt8]
  ) throws -> (records: Set<Int64>, entries: [[UInt8]]) {
    var records: Set<Int64> = []
    var entries: [[UInt8]] = []
    try value.withUnsafeBytes { value in
      if let held = try transaction.writing.get(index.tree, value),
        let id = index.objectID(key: value, value: held)
      {
        records.insert(id)
      }
      var cursor = try transaction.writing.cursor(sideLog)
      var entry = try cursor.seek(atLeast: value)
      while let found = entry, found.key.count == value.count + 8,
        compare(EntryKey.values(found.key), value) == 0
      {
        records.insert(EntryKey.id(found.key))
        entries.append(Array(found.key))
        entry = try cursor.next()
      }
    }
    return (records, entries)
  }

  private mutating func has(_ id: Int64, _ value: [UInt8]) throws -> Bool {
    guard let view = try transaction.view(of: id, in: entity) else { return false }
    var found = false
    do {
      try index.eachKey(of: view, id: id, writer: &writer) { key in
        if value.withUnsafeBytes({ compare(key, $0) == 0 }) { found = true }
      }
    } catch is RecordDamage {
      throw StoreError.damaged("a record is unreadable", entity: entity.name, id: id)
    }
    return found
  }
}

extension EntityLayout {
  /// Returns the layout of an index that is under construction.
  ///
  /// - Throws: `damaged` if the entity's build has no such index.
  package func indexUnderConstruction(
    _ description: IndexDescription
  ) throws(StoreError) -> IndexLayout {
    try constructed(description).index
  }

  fileprivate func constructed(
    _ description: IndexDescription
  ) throws(StoreError) -> (index: IndexLayout, sideLog: Tree) {
    let name = EntityLayout.treeName(of: description)
    for found in build?.indexes ?? []
    where EntityLayout.treeName(of: found.index.description) == name {
      return found
    }
    throw .damaged("an index is not being built", entity: self.name)
  }
}
