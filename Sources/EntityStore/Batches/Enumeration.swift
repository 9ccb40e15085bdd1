public import EntityModel

/// What an enumeration has come across.
public struct EnumerationSummary: Hashable, Sendable {
  /// Values that the closure was called with.
  public var returned = 0
  /// Records that were deleted after their identities were taken: the closure was not called.
  public var vanished = 0
}

extension Store {
  /// Calls the closure with each record of the request, in order.
  ///
  /// The identities are taken on one snapshot, 8 bytes each. The records are then read in batches,
  /// each on a snapshot that ends before the closure is called, so the closure may take long and
  /// may write. A record comes as it is when its batch is read, even if it has ceased to match; one
  /// that is gone by then is left out and counted.
  ///
  /// - Parameter batchSize: Records that are in memory at a time. 0 leaves it to the request's
  ///   `fetchBatchSize`, and that to the store.
  /// - Throws: As `fetch`, and what the closure throws: no more records are read then.
  @discardableResult
  public func enumerate(
    _ request: FetchRequest, batchSize: Int = 0, _ body: (Record) throws -> Void
  ) throws -> EnumerationSummary {
    try enumerate(RecordSource(request), batchSize: batchSize, body)
  }

  /// Calls the closure with each value of the descriptor: SwiftData's `enumerate`, with snapshots
  /// and errors as in `enumerate(_:batchSize:_:)` for a request.
  @discardableResult
  public func enumerate<T: Entity>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int = 0, _ body: (T) throws -> Void
  ) throws -> EnumerationSummary {
    try enumerate(try RecordSource(descriptor), batchSize: batchSize, body)
  }

  private func enumerate<T>(
    _ source: RecordSource<T>, batchSize: Int, _ body: (T) throws -> Void
  ) throws -> EnumerationSummary {
    let batchSize = try source.batchSize(batchSize)
    let identities = try read { try source.identities(in: $0) }
    var summary = EnumerationSummary()
    for batch in Batches(of: identities.count, size: batchSize) {
      for value in try read({ try source.read(identities[batch], in: $0) }) {
        guard let value else {
          summary.vanished += 1
          continue
        }
        try body(value)
        summary.returned += 1
      }
    }
    return summary
  }
}

extension ReadTransaction {
  /// Calls the closure with each record of the request, in order, as it is read: all of this
  /// transaction's snapshot, so that none vanishes.
  ///
  /// - Throws: As `forEach`, and what the closure throws: no more records are read then.
  @discardableResult
  public func enumerate(
    _ request: FetchRequest, _ body: (Record) throws -> Void
  ) throws -> EnumerationSummary {
    try enumerate(RecordSource(request), body)
  }

  /// The same with a Swift value for each record. Only one is in memory at a time, so nothing is
  /// prefetched, whatever the descriptor says.
  @discardableResult
  public func enumerate<T: Entity>(
    _ descriptor: FetchDescriptor<T>, _ body: (T) throws -> Void
  ) throws -> EnumerationSummary {
    try enumerate(try RecordSource(descriptor), body)
  }

  private func enumerate<T>(
    _ source: RecordSource<T>, _ body: (T) throws -> Void
  ) throws -> EnumerationSummary {
    var summary = EnumerationSummary()
    try source.forEach(in: self) { value in
      try body(value)
      summary.returned += 1
    }
    return summary
  }
}

/// Cuts a number of places into ranges of one size; the last may be shorter.
struct Batches: Sequence, IteratorProtocol {
  private let count: Int
  private let size: Int
  private var start = 0

  /// - Parameter size: At least 1.
  init(of count: Int, size: Int) {
    self.count = count
    self.size = size
  }

  mutating func next() -> Range<Int>? {
    guard start < count else { return nil }
    defer { start += Swift.min(size, count - start) }
    return start..<start + Swift.min(size, count - start)
  }
}
