import EntityModel
import LMDB

/// Walks a range of an index and yields object ids in the order of the values, forward or backward.
///
/// Equal keys come in order of object id either way. Keys that were cut at LMDB's key size agree
/// up to the cut though their values differ; such a run is put in order by its records.
struct IndexScan {
  private let index: IndexLayout
  private let range: KeyRange
  private let isReversed: Bool
  private let transaction: ReadTransaction
  private let entity: EntityLayout
  private(set) var entriesRead = 0

  init(
    _ index: IndexLayout, _ range: KeyRange, isReversed: Bool, in transaction: ReadTransaction,
    _ entity: EntityLayout
  ) throws {
    self.index = index
    self.range = range
    self.isReversed = isReversed
    self.transaction = transaction
    self.entity = entity
  }

  mutating func eachEntry(_ body: (Int64) throws -> Bool) throws {
    var cursor = try transaction.transaction.cursor(index.tree)
    if isReversed {
      try backward(&cursor, body)
    } else {
      try forward(&cursor, body)
    }
  }

  private mutating func forward(
    _ cursor: inout Cursor, _ body: (Int64) throws -> Bool
  ) throws {
    var entry = try range.lower.withUnsafeBytes { lower in
      lower.isEmpty ? try cursor.first() : try cursor.seek(atLeast: lower)
    }
    while let found = entry, range.isBelowUpper(found.key) {
      if index.isCut(found.key) {
        let run = try run(from: found, &cursor)
        for id in try sorted(run.identifiers) { guard try body(id) else { return } }
        entry = run.next
        continue
      }
      guard try body(try identifier(found)) else { return }
      entry = try cursor.next()
    }
  }

  private mutating func backward(
    _ cursor: inout Cursor, _ body: (Int64) throws -> Bool
  ) throws {
    var entry: Cursor.Entry?
    if let upper = range.upper {
      entry = try upper.withUnsafeBytes { try cursor.seek(below: $0) }
    } else {
      entry = try cursor.last()
    }
    while let found = entry, range.isAtLeastLower(found.key) {
      let ordering = Array(index.orderingBytes(of: found.key))
      let id = try identifier(found)
      let isCut = index.isCut(found.key)
      entry = try cursor.previous()
      let repeats = entry.map { begins($0.key, with: ordering) } ?? false
      guard repeats || isCut else {
        guard try body(id) else { return }
        continue
      }
      // Several records with these values: go to the first of them and take them forward.
      guard let first = try ordering.withUnsafeBytes({ try cursor.seek(atLeast: $0) }) else {
        return
      }
      let run = try run(from: first, &cursor)
      for id in isCut ? try sorted(run.identifiers) : run.identifiers {
        guard try body(id) else { return }
      }
      entry = try ordering.withUnsafeBytes { try cursor.seek(below: $0) }
    }
  }

  /// All entries with the ordering bytes of `first`, and the entry after them.
  private mutating func run(
    from first: Cursor.Entry, _ cursor: inout Cursor
  ) throws -> (identifiers: [Int64], next: Cursor.Entry?) {
    let ordering = Array(index.orderingBytes(of: first.key))
    var identifiers: [Int64] = []
    var entry: Cursor.Entry? = first
    while let found = entry, begins(found.key, with: ordering) {
      identifiers.append(try identifier(found))
      entry = try cursor.next()
    }
    return (identifiers, entry)
  }

  /// No component is the beginning of another one, so that keys which begin with all the ordering
  /// bytes of one have no others.
  private func begins(_ key: UnsafeRawBufferPointer, with ordering: [UInt8]) -> Bool {
    guard key.count >= ordering.count else { return false }
    return ordering.withUnsafeBytes {
      compare(UnsafeRawBufferPointer(rebasing: key[..<ordering.count]), $0) == 0
    }
  }

  private func sorted(_ identifiers: [Int64]) throws -> [Int64] {
    let sort = index.parts.map {
      Planner.SortPart(position: $0.position, isDescending: $0.isDescending != isReversed)
    }
    var rows: [SortedRow] = []
    for id in identifiers {
      guard let view = try transaction.view(of: id, in: entity) else {
        throw StoreError.damaged("an index entry points at no record", entity: entity.name, id: id)
      }
      rows.append(try SortedRow(id: id, view: view, sort: sort, entity: entity))
    }
    rows.sort { $0.precedes($1, sort) }
    return rows.map(\.id)
  }

  private mutating func identifier(_ entry: Cursor.Entry) throws -> Int64 {
    entriesRead += 1
    guard let id = index.objectID(key: entry.key, value: entry.value) else {
      throw StoreError.damaged("an index entry is unreadable", entity: entity.name)
    }
    return id
  }
}
