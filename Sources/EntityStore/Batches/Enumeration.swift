public import EntityModel

/// The numbers of values that an enumeration has passed to its closure or left out.
public struct EnumerationSummary: Hashable, Sendable {
  /// The number of values that were passed to the closure.
  public var returned = 0
  /// The number of records that were deleted after their identities had been read; the closure was
  /// not called for them.
  public var vanished = 0
}

extension Store {
  /// Calls the closure with each record of the request, in order.
  ///
  /// The identities are read on one snapshot, 8 bytes each. The records are then read in batches,
  /// each on a snapshot that ends before the closure is called, so the closure may take long and
  /// may write. A record has the values of the time when its batch is read, even if it no longer
  /// matches; a record that has been deleted by then is left out and counted.
  ///
  /// - Parameter batchSize: The number of records in memory at a time. 0 uses the request's
  ///   `fetchBatchSize`, or else the store's default.
  /// - Throws: As `fetch`, and the closure's error, after which no more records are read.
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
  /// Calls the closure with each record of the request, in order, as it is read. All records are of
  /// this transaction's snapshot, so that none vanishes.
  ///
  /// - Throws: As `forEach`, and the closure's error, after which no more records are read.
  @discardableResult
  public func enumerate(
    _ request: FetchRequest, _ body: (Record) throws -> Void
  ) throws -> EnumerationSummary {
    try enumerate(RecordSource(request), body)
  }

  /// Calls the closure with a Swift value for each record. Only one is in memory at a time, so
  /// nothing is prefetched, whatever the descriptor requests.
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

/// Divides a number of positions into ranges of one size; the last may be shorter.
struct Batches: Sequence, IteratorProtocol {
  private let count: Int
  private let size: Int
  private var start = 0

  /// Creates the ranges.
  ///
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
