import EntityModel
import LMDB

/// Returns the record ids of an index range in the order of the values, forward or backward.
///
/// Entries that are equal in the relevant parts are in order of record id in both directions. Keys
/// that were truncated at LMDB's key size are equal up to that size though their values differ;
/// such a run is sorted by its records. Memory is bounded by the longest run.
final class IndexStream {
  /// The position of an id among those of other streams.
  struct Place {
    /// The bytes that order the entries, without the bytes that all entries of the range begin
    /// with.
    var ordering: [UInt8] = []
    var isCut = false
  }

  private let index: IndexLayout
  private let range: KeyRange
  private let isReversed: Bool
  private let orderedParts: Int
  private let prefixCount: Int?
  private let transaction: ReadTransaction
  private let entity: EntityLayout
  // SAFETY (of what is unchecked): no step of the cursor calls code that accesses the stream.
  @exclusivity(unchecked) private var cursor: Cursor
  @exclusivity(unchecked) private var hasBegun = false
  @exclusivity(unchecked) private var ahead: Ahead?
  @exclusivity(unchecked) private var run: [Int64] = []
  @exclusivity(unchecked) private var nextOfRun = 0
  /// The position of the id that was returned last; only for a stream with a prefix.
  private(set) var place = Place()
  @exclusivity(unchecked) private(set) var entriesRead = 0

  /// An entry that was read to find the end of a run.
  private struct Ahead {
    let id: Int64
    let ordering: [UInt8]
    let isCut: Bool
  }

  /// Begins a range.
  ///
  /// - Parameter orderedParts: The number of leading key parts that are relevant.
  /// - Parameter prefixCount: The number of leading bytes that `place` leaves out; `nil` if places
  ///   are not needed.
  init(
    _ index: IndexLayout, _ range: KeyRange, isReversed: Bool, orderedParts: Int,
    prefixCount: Int? = nil, in transaction: ReadTransaction, _ entity: EntityLayout
  ) throws {
    self.index = index
    self.range = range
    self.isReversed = isReversed
    self.orderedParts = orderedParts
    self.prefixCount = prefixCount
    self.transaction = transaction
    self.entity = entity
    cursor = try transaction.transaction.cursor(index.tree)
  }

  /// Returns the next record id.
  ///
  /// - Returns: `nil` at the end of the range.
  func next() throws -> Int64? {
    if nextOfRun < run.count {
      nextOfRun += 1
      return run[nextOfRun - 1]
    }
    if let first = ahead {
      ahead = nil
      return try beginRun(first)
    }
    guard let entry = try advance() else { return nil }
    let id = try identifier(entry)
    if isAlone(entry.key) {
      if let prefixCount {
        place = Place(ordering: Array(ordering(of: entry.key).dropFirst(prefixCount)))
      }
      return id
    }
    return try beginRun(
      Ahead(id: id, ordering: Array(ordering(of: entry.key)), isCut: index.isCut(entry.key)))
  }

  /// Returns true if the entry is in its right position, independent of its neighbors.
  private func isAlone(_ key: UnsafeRawBufferPointer) -> Bool {
    orderedParts == index.parts.count && (!isReversed || index.isUnique) && !index.isCut(key)
  }

  /// Collects the entries that are equal to the first one in the relevant parts.
  private func beginRun(_ first: Ahead) throws -> Int64? {
    run = [first.id]
    nextOfRun = 1
    while let entry = try advance() {
      let id = try identifier(entry)
      let ordering = ordering(of: entry.key)
      guard first.ordering.withUnsafeBytes({ compare(ordering, $0) }) == 0 else {
        ahead = Ahead(id: id, ordering: Array(ordering), isCut: index.isCut(entry.key))
        break
      }
      run.append(id)
    }
    if prefixCount != nil || run.count > 1 { try order(first) }
    return run[0]
  }

  private func order(_ first: Ahead) throws {
    if first.isCut {
      run = try sorted(run)
    } else if isReversed || orderedParts < index.parts.count {
      run.sort()
    }
    if let prefixCount {
      place = Place(ordering: Array(first.ordering.dropFirst(prefixCount)), isCut: first.isCut)
    }
  }

  private func sorted(_ identifiers: [Int64]) throws -> [Int64] {
    var sort = index.sort(isReversed: isReversed, parts: orderedParts)
    // All entries of an ordered range have the same element of a list; their lists differ.
    if let listPart = index.listPart, listPart < sort.count { sort.remove(at: listPart) }
    var rows: [SortedRow] = []
    for id in identifiers {
      rows.append(try SortedRow(id: id, sort: sort, in: transaction, entity))
    }
    rows.sort { $0.precedes($1, sort) }
    return rows.map(\.id)
  }

  private func ordering(of key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    index.orderingBytes(of: key, parts: orderedParts)
  }

  private func identifier(_ entry: Cursor.Entry) throws -> Int64 {
    guard let id = index.objectID(key: entry.key, value: entry.value) else {
      throw StoreError.damaged("an index entry is unreadable", entity: entity.name)
    }
    return id
  }

  // MARK: The cursor

  /// Returns the next entry of the range in the direction of the stream.
  func advance() throws -> Cursor.Entry? {
    try transaction.countVisit()
    let entry = hasBegun ? try step() : try begin()
    hasBegun = true
    guard let entry,
      isReversed ? range.isAtLeastLower(entry.key) : range.isBelowUpper(entry.key)
    else { return nil }
    entriesRead += 1
    return entry
  }

  private func begin() throws -> Cursor.Entry? {
    guard isReversed else {
      return try range.lower.withUnsafeBytes { try cursor.seek(atLeast: $0) }
    }
    guard let upper = range.upper else { return try cursor.last() }
    return try upper.withUnsafeBytes { try cursor.seek(below: $0) }
  }

  private func step() throws -> Cursor.Entry? {
    isReversed ? try cursor.previous() : try cursor.next()
  }
}

extension IndexLayout {
  /// Returns the sort keys of the first parts of the keys.
  func sort(isReversed: Bool, parts count: Int) -> [BoundSort] {
    parts.prefix(count).map { part in
      BoundSort(
        program: .attribute(part.position), position: part.position, key: part.collation,
        isDescending: part.isDescending != isReversed)
    }
  }

  /// Returns the bytes by which the first parts of the keys are ordered: up to the mark of a
  /// truncated component, because the bytes after it do not determine the order.
  func orderingBytes(
    of key: UnsafeRawBufferPointer, parts count: Int
  ) -> UnsafeRawBufferPointer {
    if count == parts.count { return orderingBytes(of: key) }
    guard let end = KeyReader(self).end(ofParts: count, key) else { return sortBytes(of: key) }
    return UnsafeRawBufferPointer(rebasing: key[..<end])
  }
}
