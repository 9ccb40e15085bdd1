package import EntityModel
import LMDB

/// Runs the record part of a request on a transaction's snapshot: filter, order, then window.
///
/// Records are passed on as views of the map: a row that the window or the filter drops costs no
/// allocation.
package struct FetchExecution {
  let planned: PlannedFetch
  let window: FetchWindow
  /// The measurement of the fetch; `nil` for none.
  let observer: FetchObserver?
  let transaction: ReadTransaction
  /// True if the closure never ends the fetch: records are then looked up in groups.
  var readsAll = false
  private(set) var statistics = FetchStatistics()

  var entity: EntityLayout { planned.entity }
  var plan: AccessPlan { planned.plan }

  // Borrowed, because an initializer would otherwise copy the request to own it.
  package init(_ request: borrowing FetchRequest, in transaction: ReadTransaction) throws {
    planned = try PlannedFetch.cached(request, in: transaction)
    window = try FetchWindow(of: request)
    observer = transaction.catalog.fetchObserver
    self.transaction = transaction
  }

  /// Plans a request.
  ///
  /// - Parameter request: A request for an entity that the transaction has been prepared to read.
  package init(_ request: BoundRequest, in transaction: ReadTransaction) throws {
    planned = PlannedFetch(
      request.entity, try Planner.plan(request, in: transaction), request.observed)
    window = request.window
    observer = transaction.catalog.fetchObserver
    self.transaction = transaction
  }

  /// Calls the closure with each row of the window, in order, until it returns `false`. The row
  /// has a record, unless the plan is answered from the index alone.
  package mutating func run(_ body: (FetchRow) throws -> Bool) throws {
    guard window.limit > 0 else { return }
    let start = begin()
    defer { if let start { end(start) } }
    if !plan.sort.isEmpty { return try runSorted(body) }
    if plan.sortsByIdentity { return try runByIdentity(body) }
    let (offset, limit) = (window.offset, window.limit)
    var skipped = 0
    var returned = 0
    defer { statistics.rowsReturned = returned }
    try eachMatch { row in
      if skipped < offset {
        skipped += 1
        return true
      }
      returned += 1
      return try body(row) && returned < limit
    }
  }

  /// Sets the number of rows that were returned, if it is smaller than the number that `run` has
  /// passed on.
  mutating func returned(_ rows: Int) { statistics.rowsReturned = rows }

  /// Calls the closure with each record of a request for whole records, in order, until it returns
  /// `false`.
  package mutating func runRecords(_ body: (Int64, RecordView) throws -> Bool) throws {
    try run { row in
      guard case .record(let view) = row.fields else { return true }
      return try body(row.id, view)
    }
  }

  /// Calls a closure that may write with each record, in order, until it returns `false`. In a
  /// write transaction the identities are read first, 8 bytes each, so that no write changes which
  /// records are enumerated or makes the fetch find its own results endlessly. A record has its
  /// current values when its turn comes, and a deleted one is left out.
  mutating func enumerateRecords(_ body: (Int64, RecordView) throws -> Bool) throws {
    guard transaction.canWrite else { return try runRecords(body) }
    var ids: [Int64] = []
    try run { row in
      ids.append(row.id)
      return true
    }
    statistics.rowsReturned = 0
    for id in ids {
      guard let view = try transaction.storedView(of: id, in: entity) else { continue }
      statistics.recordsRead += 1
      statistics.rowsReturned += 1
      guard try body(id, view) else { return }
    }
  }

  /// Calls the closure with each match until it returns `false`, in any order and without regard to
  /// the window. Only for a scan of all records without a filter, or with comparisons of numbers as
  /// the filter: the scan then reads no other values.
  ///
  /// - Returns: `false`, without a call, for any other request.
  mutating func runScan(_ body: (RecordView) throws -> Bool) throws -> Bool {
    guard case .scan = plan.access else { return false }
    let numbers = plan.filter.flatMap(NumberTests.init)
    if plan.filter != nil, numbers == nil { return false }
    let name = entity.name
    let start = begin()
    defer { if let start { end(start) } }
    statistics.recordsRead += try scan(numbers) { id, view in
      do {
        return try body(view)
      } catch is RecordDamage {
        throw StoreError.damaged("a record is unreadable", entity: name, id: id)
      }
    }
    return true
  }

  /// Returns the number of rows in the window, without reading records if the ranges cover the
  /// whole predicate.
  package mutating func count() throws -> Int {
    let enough = window.end
    var matches = 0
    if plan.filter == nil, let counted = try countWithoutRecords(enough) {
      matches = counted
    } else {
      let counts = try runScan { _ in
        matches += 1
        return matches < enough
      }
      if !counts {
        let start = begin()
        defer { if let start { end(start) } }
        try eachMatch { _ in
          matches += 1
          return matches < enough
        }
      }
    }
    return max(0, min(matches, enough) - window.offset)
  }

  private mutating func countWithoutRecords(_ enough: Int) throws -> Int? {
    switch plan.access {
    case .nothing: return 0
    case .scan: return try transaction.transaction.count(entity.tree)
    case .index(let access) where !access.mayRepeat:
      return try countEntries(access, enough)
    case .index, .identifiers, .union: return nil
    }
  }

  private mutating func countEntries(_ access: IndexAccess, _ enough: Int) throws -> Int {
    let start = begin()
    defer { if let start { end(start) } }
    if access.ranges == [.all], access.index.listPart == nil {
      return try transaction.transaction.count(access.index.tree)
    }
    var matches = 0
    var entries = EntryCount(of: access.index.tree, in: transaction)
    for range in access.ranges where matches < enough {
      matches += try entries.count(range, enough: enough - matches)
    }
    statistics.entriesRead += entries.entriesRead
    return matches
  }

  // MARK: Matches in the order of the access

  private mutating func eachMatch(_ body: (FetchRow) throws -> Bool) throws {
    switch plan.access {
    case .nothing: return
    case .scan: try eachRecord(body)
    case .identifiers(let ids): try eachRecord(of: ids, mayBeMissing: true, body)
    case .index(let access):
      if access.mayRepeat {
        try eachRecord(of: try identifiers(of: [access]), mayBeMissing: false, body)
      } else if plan.isIndexOnly {
        try eachEntry(access, body)
      } else {
        try eachRecord(of: access, body)
      }
    case .union(let accesses):
      try eachRecord(of: try identifiers(of: accesses), mayBeMissing: false, body)
    }
  }

  private mutating func eachRecord(
    of access: IndexAccess, _ body: (FetchRow) throws -> Bool
  ) throws {
    var walk = IndexWalk(access, in: transaction, entity)
    defer { statistics.entriesRead += walk.entriesRead }
    if readsAll, plan.filter == nil, let snapshot = transaction.transaction as? TreeReader {
      return try eachGroup(of: &walk, in: snapshot, body)
    }
    // Locals, so that no reference is counted for each record.
    let (transaction, entity) = (transaction, entity)
    try walk.run { try visit($0, mayBeMissing: false, of: entity, in: transaction, body) }
  }

  private mutating func eachRecord(_ body: (FetchRow) throws -> Bool) throws {
    let numbers = plan.filter.flatMap(NumberTests.init)
    statistics.recordsRead += try scan(numbers) { id, view in
      let row = FetchRow(id: id, view: view)
      return numbers == nil ? try filtered(row, body) : try handed(row, body)
    }
  }

  /// Scans all records, and passes on those that pass the tests.
  ///
  /// - Returns: The number of records that were read.
  @inline(__always)
  private func scan(
    _ numbers: NumberTests?, _ body: (Int64, RecordView) throws -> Bool
  ) throws -> Int {
    let (transaction, entity) = (transaction, entity)
    let verifies = transaction.verifiesReads
    var recordsRead = 0
    try transaction.eachEntry(of: entity.tree) { entry in
      try transaction.countVisit()
      guard let id = RecordKey.objectID(entry.key), let view = entity.record.view(of: entry.value)
      else { throw StoreError.damaged("a record is unreadable", entity: entity.name) }
      if verifies { try entity.verify(entry.value, id: id) }
      recordsRead += 1
      return try numbers?.hold(of: view) == false || body(id, view)
    }
    return recordsRead
  }

  private mutating func eachRecord(
    of ids: [Int64], mayBeMissing: Bool, _ body: (FetchRow) throws -> Bool
  ) throws {
    for id in ids {
      guard try visit(id, mayBeMissing: mayBeMissing, of: entity, in: transaction, body) else {
        return
      }
    }
  }

  /// Visits the records of a walk up to the end of the window. Those of a group are looked up
  /// together, so that the memory of one is loaded while another is found.
  private mutating func eachGroup(
    of walk: inout IndexWalk, in snapshot: TreeReader, _ body: (FetchRow) throws -> Bool
  ) throws {
    var left = window.end
    var ids: [Int64] = []
    try walk.run { id in
      ids.append(id)
      guard ids.count == min(left, StoreLimits.recordsAhead) else { return true }
      left -= ids.count
      defer { ids.removeAll(keepingCapacity: true) }
      return try visit(ids, in: snapshot, body) && left > 0
    }
    if !ids.isEmpty { _ = try visit(ids, in: snapshot, body) }
  }

  private mutating func visit(
    _ ids: [Int64], in snapshot: TreeReader, _ body: (FetchRow) throws -> Bool
  ) throws -> Bool {
    let (transaction, entity) = (transaction, entity)
    let found = try snapshot.get(entity.tree, numbers: ids.map { RecordKey.number(of: $0) })
    for (id, bytes) in zip(ids, found) {
      guard
        try visit(id, found: bytes, mayBeMissing: false, of: entity, in: transaction, body)
      else { return false }
    }
    return true
  }

  private mutating func visit(
    _ id: Int64, found: UnsafeRawBufferPointer? = nil, mayBeMissing: Bool, of entity: EntityLayout,
    in transaction: ReadTransaction, _ body: (FetchRow) throws -> Bool
  ) throws -> Bool {
    guard let view = try transaction.storedView(of: id, in: entity, found: found) else {
      if mayBeMissing { return true }
      throw StoreError.damaged("an index entry points at no record", entity: entity.name, id: id)
    }
    statistics.recordsRead += 1
    return try filtered(FetchRow(id: id, view: view), body)
  }

  private func filtered(
    _ row: FetchRow, _ body: (FetchRow) throws -> Bool
  ) throws -> Bool {
    guard let filter = plan.filter else { return try handed(row, body) }
    return try handed(row) { try !filter.matches($0, in: transaction) || body($0) }
  }

  @inline(__always)
  private func handed(_ row: FetchRow, _ body: (FetchRow) throws -> Bool) throws -> Bool {
    do {
      return try body(row)
    } catch is RecordDamage {
      throw StoreError.damaged("a record is unreadable", entity: entity.name, id: row.id)
    }
  }

  /// Returns the records of several accesses, without duplicates, in order of record id.
  private mutating func identifiers(of accesses: [IndexAccess]) throws -> [Int64] {
    var ids: Set<Int64> = []
    for access in accesses {
      var walk = IndexWalk(access, in: transaction, entity)
      try walk.run { id in
        ids.insert(id)
        return true
      }
      statistics.entriesRead += walk.entriesRead
    }
    return ids.sorted()
  }

  // MARK: From the index alone

  /// Passes on the values that the keys hold; for a truncated key the record is read.
  private mutating func eachEntry(
    _ access: IndexAccess, _ body: (FetchRow) throws -> Bool
  ) throws {
    for range in access.isReversed ? access.ranges.reversed() : access.ranges {
      let stream = try IndexStream(
        access.index, range, isReversed: access.isReversed, orderedParts: access.orderedParts,
        in: transaction, entity)
      defer { statistics.entriesRead += stream.entriesRead }
      while let entry = try stream.advance() {
        guard try visit(entry, of: access.index, body) else { return }
      }
    }
  }

  private mutating func visit(
    _ entry: Cursor.Entry, of index: IndexLayout, _ body: (FetchRow) throws -> Bool
  ) throws -> Bool {
    guard let id = index.objectID(key: entry.key, value: entry.value),
      let values = row(entry.key, index)
    else { throw StoreError.damaged("an index entry is unreadable", entity: entity.name) }
    if index.isCut(entry.key) {
      return try visit(id, mayBeMissing: false, of: entity, in: transaction, body)
    }
    return try filtered(FetchRow(id: id, fields: .values(values)), body)
  }

  /// Returns the values of the first entry of the access in its direction.
  mutating func firstEntry(_ access: IndexAccess) throws -> FetchRow? {
    var first: FetchRow?
    if observer != nil { access.index.countUse() }
    try eachEntry(access) { row in
      first = row
      return false
    }
    return first
  }

  private func row(_ key: UnsafeRawBufferPointer, _ index: IndexLayout) -> [Value]? {
    guard let parts = KeyReader(index).parts(of: key) else { return nil }
    var values = [Value](repeating: .null, count: entity.description.attributes.count)
    for (part, read) in zip(index.parts, parts) { values[part.position] = read.value }
    return values
  }

  // MARK: Sorting in memory

  /// Sorts all matches, and keeps no more than the window needs.
  private mutating func runSorted(_ body: (FetchRow) throws -> Bool) throws {
    let window = window.end
    let sort = plan.sort
    let transaction = transaction
    var rows: [SortedRow] = []
    try eachMatch { row in
      rows.append(try SortedRow(row, sort: sort, in: transaction))
      // Truncated at intervals, so that memory is a multiple of the window and sorting stays cheap.
      if window < Int.max / 4, rows.count >= window * 2 + 1_000 {
        rows.sort { $0.precedes($1, sort) }
        rows.removeLast(rows.count - window)
      }
      return true
    }
    rows.sort { $0.precedes($1, sort) }
    try hand(on: rows.map(\.id), body)
  }

  private mutating func runByIdentity(_ body: (FetchRow) throws -> Bool) throws {
    var ids: [Int64] = []
    try eachMatch { row in
      ids.append(row.id)
      return true
    }
    try hand(on: ids.sorted(), body)
  }

  private mutating func hand(
    on ids: [Int64], _ body: (FetchRow) throws -> Bool
  ) throws {
    for id in ids.dropFirst(window.offset).prefix(window.limit) {
      guard let view = try transaction.storedView(of: id, in: entity) else { continue }
      statistics.rowsReturned += 1
      do {
        guard try body(FetchRow(id: id, view: view)) else { return }
      } catch is RecordDamage {
        throw StoreError.damaged("a record is unreadable", entity: entity.name, id: id)
      }
    }
  }
}
