import EntityModel

/// Returns the record ids of all ranges of an access, one range after the other or merged.
struct IndexWalk {
  private let access: IndexAccess
  private let transaction: ReadTransaction
  private let entity: EntityLayout
  /// The sort keys by which the entries are merged.
  private var sort: [BoundSort] = []
  /// The streams that are not at their end, if they are merged; the next one is the last.
  private var heads: [Head] = []
  private var entriesOfEnded = 0

  private struct Head {
    let stream: IndexStream
    var id: Int64
    /// The record's sort values, read only for a truncated key: how much of a value a key holds
    /// depends on the parts before it, so that truncated keys of different ranges cannot be
    /// compared.
    var row: SortedRow?
    var isCut: Bool { stream.place.isCut }
  }

  init(_ access: IndexAccess, in transaction: ReadTransaction, _ entity: EntityLayout) {
    self.access = access
    self.transaction = transaction
    self.entity = entity
  }

  var entriesRead: Int { heads.reduce(entriesOfEnded) { $0 + $1.stream.entriesRead } }

  /// Calls the closure with each record id until it returns `false`.
  mutating func run(_ body: (Int64) throws -> Bool) throws {
    if case .merged = access.order, access.ranges.count > 1 { return try runMerged(body) }
    for number in access.ranges.indices {
      let stream = try stream(access.isReversed ? access.ranges.count - 1 - number : number)
      defer { entriesOfEnded += stream.entriesRead }
      while let id = try stream.next() {
        guard try body(id) else { return }
      }
    }
  }

  private func stream(_ number: Int, forMerging: Bool = false) throws -> IndexStream {
    try IndexStream(
      access.index, access.ranges[number], isReversed: access.isReversed,
      orderedParts: access.orderedParts,
      prefixCount: forMerging ? access.prefixCounts[number] : nil, in: transaction, entity)
  }

  // MARK: Merging

  private mutating func runMerged(_ body: (Int64) throws -> Bool) throws {
    sort = Array(
      access.index.sort(isReversed: access.isReversed, parts: access.orderedParts)
        .dropFirst(access.mergedFrom))
    for number in access.ranges.indices { try advance(try stream(number, forMerging: true)) }
    while let head = heads.popLast() {
      try advance(head.stream)
      guard try body(head.id) else { return }
    }
  }

  /// Inserts a stream into its position among the others, unless it has ended.
  private mutating func advance(_ stream: IndexStream) throws {
    guard let id = try stream.next() else {
      entriesOfEnded += stream.entriesRead
      return
    }
    var head = Head(stream: stream, id: id)
    if head.isCut || heads.contains(where: \.isCut) {
      head.row = try SortedRow(id: id, sort: sort, in: transaction, entity)
      for number in heads.indices where heads[number].row == nil {
        heads[number].row = try SortedRow(
          id: heads[number].id, sort: sort, in: transaction, entity)
      }
    }
    var low = 0
    var high = heads.count
    while low < high {
      let middle = (low + high) / 2
      if precedes(head, heads[middle]) { low = middle + 1 } else { high = middle }
    }
    heads.insert(head, at: low)
  }

  private func precedes(_ a: Head, _ b: Head) -> Bool {
    if a.isCut || b.isCut, let left = a.row, let right = b.row {
      return left.precedes(right, sort)
    }
    let left = a.stream.place.ordering
    let right = b.stream.place.ordering
    if left != right { return left.lexicographicallyPrecedes(right) != access.isReversed }
    return a.id < b.id
  }
}
