import EntityModel
import EntityStore
import LMDB

/// Fills an index next to its entity while other programs continue to write.
///
/// Keys are sorted and then appended, which is many times as fast as inserting them in record
/// order. Concurrent writers record the changed ids in a side log (see `EntityBuild`). At the end
/// the side log is applied, in any number of transactions. The keys of a record may come from any
/// snapshot that is younger than the first entry of the side log, because all later changes are in
/// the side log.
///
/// Keys have the record id at their end, also those of a unique index. So records with equal values
/// are neighbors: the first gets the index entry, and the others are added to the side log. They
/// are checked again when the side log is applied, because the values may have changed by then.
struct IndexConstruction: ~Copyable {
  private let entity: EntityLayout
  let index: IndexLayout
  private let notes: Tree
  private let rule: UniqueViolationRule
  private let transaction: WriteTransaction
  private var writer = KeyWriter()

  /// Begins or continues the construction of an index.
  ///
  /// - Parameter index: An index of the entity's build.
  init(
    _ index: IndexDescription, of entity: EntityLayout, _ rule: UniqueViolationRule,
    in transaction: WriteTransaction
  ) throws {
    let found = try entity.indexUnderConstruction(index)
    self.entity = entity
    self.index = found.index
    notes = found.notes
    self.rule = rule
    self.transaction = transaction
  }

  // MARK: Appending

  /// Adds the next keys, each greater than all before.
  ///
  /// - Parameter last: The last key that was added; `nil` before the first.
  /// - Returns: True if there are more keys.
  mutating func append(
    _ keys: inout some SortedKeys & ~Copyable, after last: inout [UInt8]?, rows: inout Int64,
    while hasRoom: () -> Bool
  ) throws -> Bool {
    var cursor = try transaction.writing.cursor(index.tree)
    var previous = last ?? []
    defer { last = previous }
    var more = true
    while more {
      more = try keys.withNext { key in
        guard let key else { return false }
        if !index.isUnique {
          try cursor.append(key: key, value: UnsafeRawBufferPointer(start: nil, count: 0))
        } else if isSame(key, as: previous) {
          try withUnsafeBytes(of: UInt8(1)) {
            try transaction.writing.put(notes, key: key, value: $0)
          }
        } else {
          try cursor.append(key: Self.shared(key), value: Self.identity(key))
        }
        previous.removeAll(keepingCapacity: true)
        previous.append(contentsOf: key)
        rows += 1
        return true
      }
      if more, !hasRoom() { return true }
    }
    return false
  }

  /// Returns true if two keys differ in the record id alone.
  private func isSame(_ key: UnsafeRawBufferPointer, as previous: [UInt8]) -> Bool {
    previous.withUnsafeBytes { previous in
      previous.count == key.count && compare(Self.shared(key), Self.shared(previous)) == 0
    }
  }

  // MARK: Applying the side log

  /// Applies the side log to the index until it is empty or there is no more room.
  ///
  /// - Returns: True if the side log has more entries.
  /// - Throws: `uniqueViolation` if records have equal values and the rule is `fail`.
  mutating func settle(rows: inout Int64, while hasRoom: () -> Bool) throws -> Bool {
    while let (key, isPut) = try firstNote() {
      if index.isUnique {
        try settleUnique(Array(key.dropLast(8)))
      } else {
        try key.withUnsafeBytes { key in
          if isPut {
            let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
            try transaction.writing.put(index.tree, key: key, value: nothing)
          } else {
            _ = try transaction.writing.delete(index.tree, key: key)
          }
          _ = try transaction.writing.delete(notes, key: key)
        }
      }
      rows += 1
      if !hasRoom() { return true }
    }
    return false
  }

  func hasNotes() throws -> Bool { try transaction.writing.count(notes) > 0 }

  private func firstNote() throws -> (key: [UInt8], isPut: Bool)? {
    var cursor = try transaction.writing.cursor(notes)
    guard let entry = try cursor.first() else { return nil }
    guard index.isUnique == false || entry.key.count >= 8 else {
      throw StoreError.damaged("a note of an index is unreadable", entity: entity.name)
    }
    return (Array(entry.key), entry.value.first == 1)
  }

  /// Gives a unique value to the right record: among the records that ever had the value, it keeps
  /// those that still have it, and resolves conflicts between them.
  private mutating func settleUnique(_ value: [UInt8]) throws {
    var candidates: Set<Int64> = []
    var noted: [[UInt8]] = []
    try value.withUnsafeBytes { value in
      if let held = try transaction.writing.get(index.tree, value),
        let id = index.objectID(key: value, value: held)
      {
        candidates.insert(id)
      }
      var cursor = try transaction.writing.cursor(notes)
      var entry = try cursor.seek(atLeast: value)
      while let found = entry, found.key.count == value.count + 8,
        compare(Self.shared(found.key), value) == 0
      {
        candidates.insert(Self.number(found.key))
        noted.append(Array(found.key))
        entry = try cursor.next()
      }
    }
    var holders = try candidates.filter { try has($0, value) }.sorted()
    if holders.count > 1 { try resolve(&holders) }
    try value.withUnsafeBytes { value in
      if let id = holders.first {
        try withUnsafeBytes(of: KeyWriter.ordered(id).bigEndian) {
          try transaction.writing.put(index.tree, key: value, value: $0)
        }
      } else {
        _ = try transaction.writing.delete(index.tree, key: value)
      }
    }
    for key in noted {
      try key.withUnsafeBytes { _ = try transaction.writing.delete(notes, key: $0) }
    }
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

  /// Resolves records with the same values by the rule of the index, so that one of them is left.
  private func resolve(_ holders: inout [Int64]) throws {
    let kept: Int64
    switch rule {
    case .fail: throw equalRecords(holders)
    case .keepNewest: kept = holders.last ?? 0
    case .keepOldest, .quarantine: kept = holders.first ?? 0
    }
    for id in holders where id != kept {
      let record = ObjectID(entity: entity.name, number: id)
      if rule == .quarantine {
        try Quarantine.keep(record, reason: "\(entity.name).\(index.description.name)", transaction)
      }
      let wasBuilding = transaction.isBuilding
      transaction.isBuilding = false
      defer { transaction.isBuilding = wasBuilding }
      try transaction.delete(record)
    }
    holders = [kept]
  }

  private func equalRecords(_ holders: [Int64]) -> StoreError {
    let names = index.parts.map { entity.description.attributes[$0.position].name }
    return StoreError(
      .uniqueViolation, "a unique index cannot be made: records have equal values",
      [
        ("entity", entity.name), ("index", index.description.name),
        ("records", holders.prefix(5).map(String.init).joined(separator: ", ")),
      ],
      advice: "remove the duplicates first, or give the step `onViolation`",
      object: ObjectID(entity: entity.name, number: holders[0]),
      property: names.joined(separator: ", "))
  }

  // MARK: Parts of a key

  /// Returns the key without the record id.
  private static func shared(_ key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: key[..<(key.count - 8)])
  }

  private static func identity(_ key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: key[(key.count - 8)...])
  }

  private static func number(_ key: UnsafeRawBufferPointer) -> Int64 {
    let bits = identity(key).loadUnaligned(as: UInt64.self)
    return Int64(bitPattern: UInt64(bigEndian: bits) ^ 0x8000_0000_0000_0000)
  }
}

extension EntityLayout {
  /// Returns an index that is under construction, with its side log.
  ///
  /// - Throws: `damaged` if the entity's build has no such index.
  func indexUnderConstruction(
    _ description: IndexDescription
  ) throws(StoreError) -> (index: IndexLayout, notes: Tree) {
    let name = EntityLayout.treeName(of: description)
    for found in build?.indexes ?? []
    where EntityLayout.treeName(of: found.index.description) == name {
      return found
    }
    throw .damaged("an index is not being built", entity: self.name)
  }
}

/// Keys in ascending order, each once.
protocol SortedKeys: ~Copyable {
  /// Calls the closure with the next key, which is valid only during the call; `nil` at the end.
  mutating func withNext<R>(_ body: (UnsafeRawBufferPointer?) throws -> R) throws -> R
}

extension KeyMerge: SortedKeys {
  mutating func withNext<R>(_ body: (UnsafeRawBufferPointer?) throws -> R) throws -> R {
    try body(try next())
  }
}
