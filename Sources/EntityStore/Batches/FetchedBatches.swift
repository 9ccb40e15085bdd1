public import EntityModel
import SystemSupport

/// The results of a fetch, read in batches when they are accessed: Core Data's batched array, with
/// errors that can be caught. `AsynchronousBatches` is the asynchronous variant.
///
/// It is for results that are larger than memory, that are read at any position, or whose use takes
/// long. It holds the identities of the fetch, 8 bytes each, and the few batches that were used
/// last; no snapshot is pinned between two reads. The set of records and their order stay as they
/// were at the fetch. A value has the state of the time when its batch was read: a changed record
/// may no longer match, a deleted one is `nil`.
///
/// Threads: may be used by any number of them at once.
public final class FetchedBatches<Element: Sendable>: Sendable {
  public let batchSize: Int
  private let store: Store
  private let source: RecordSource<Element>
  private let identities: [Int64]
  private let cache = Locked(Cache())

  /// The batches that were read, in the order of their last use, the most recent at the end.
  private struct Cache {
    var batches: [(number: Int, values: [Element?])] = []
    var reads = 0
  }

  init(_ source: RecordSource<Element>, batchSize: Int?, in store: Store) throws {
    self.source = source
    self.store = store
    self.batchSize = try source.batchSize(batchSize)
    identities = try store.read { try source.identities(in: $0) }
  }

  public var count: Int { identities.count }
  public var isEmpty: Bool { identities.isEmpty }
  public var indices: Range<Int> { identities.indices }

  /// Returns the value at a position, counted from 0. Reads its batch if it is not in memory.
  ///
  /// - Returns: `nil` if the record was deleted after the fetch.
  /// - Throws: `invalidRequest` for a position that is not in `indices`; `damaged`, a storage
  ///   failure.
  public subscript(position: Int) -> Element? {
    get throws {
      try requireIndex(position)
      return try batch(position / batchSize)[position % batchSize]
    }
  }

  /// Returns the identity at a position. Reads nothing.
  ///
  /// - Throws: `invalidRequest` for a position that is not in `indices`.
  public func identifier(at position: Int) throws -> ObjectID {
    try requireIndex(position)
    return ObjectID(entity: source.request.entityName, number: identities[position])
  }

  /// Returns the record at a position, to be read later and by itself. Reads nothing.
  ///
  /// - Throws: `invalidRequest` for a position that is not in `indices`.
  public func fault(at position: Int) throws -> RecordFault<Element> {
    try requireIndex(position)
    return RecordFault(identities[position], of: source, in: store)
  }

  /// Calls the closure with each value in order: SwiftData's `enumerate`.
  ///
  /// One batch after another is read and, unless it was in memory before, dropped after its last
  /// value. Its snapshot ends before the closure is called, so the closure may take long and may
  /// write. A record has the values of the time when its batch is read, even if it no longer
  /// matches; a record that has been deleted by then is left out and counted.
  ///
  /// - Returns: The number of values, and the number of records that were deleted after the fetch.
  /// - Throws: `damaged`, a storage failure, and the closure's error, after which nothing more is
  ///   read.
  @discardableResult
  public func forEach(_ body: (Element) throws -> Void) throws -> BatchesSummary {
    var summary = BatchesSummary()
    for number in 0..<(count / batchSize + (count % batchSize == 0 ? 0 : 1)) {
      for value in try kept(number) ?? read(number) {
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

  private func requireIndex(_ position: Int) throws {
    guard indices.contains(position) else {
      throw StoreError(
        .invalidRequest, "a position is not in the results",
        [("position", String(position)), ("count", String(count))])
    }
  }

  // MARK: Batches

  /// Returns a batch, from the cache or read now. Two threads that miss the same batch both read
  /// it: waiting for each other would not be faster, and a value's initializer may access these
  /// results.
  private func batch(_ number: Int) throws -> [Element?] {
    if let values = kept(number) { return values }
    let values = try read(number)
    keep(number, values)
    return values
  }

  private func read(_ number: Int) throws -> [Element?] {
    let start = number * batchSize
    let places = start..<start + min(batchSize, count - start)
    return try store.read { try source.read(identities[places], in: $0) }
  }

  private func kept(_ number: Int) -> [Element?]? {
    cache.withLock { cache in
      guard let place = cache.batches.firstIndex(where: { $0.number == number }) else { return nil }
      let batch = cache.batches.remove(at: place)
      cache.batches.append(batch)
      return batch.values
    }
  }

  private func keep(_ number: Int, _ values: [Element?]) {
    cache.withLock { cache in
      cache.reads += 1
      cache.batches.removeAll { $0.number == number }
      if cache.batches.count == StoreLimits.batchesKept { cache.batches.removeFirst() }
      cache.batches.append((number, values))
    }
  }

  package var batchesHeld: Int { cache.withLock { $0.batches.count } }
  package var batchesRead: Int { cache.withLock { $0.reads } }
}

extension Store {
  /// Reads the identities of the request on one snapshot; the records are read when they are
  /// accessed.
  ///
  /// - Parameter batchSize: The number of records that are read at a time, at least 1. `nil` uses
  ///   the request's `fetchBatchSize`, or else the store's default.
  /// - Throws: The errors of `fetch`; `invalidRequest` for a batch size below 1.
  public func fetchBatches(
    _ request: FetchRequest, batchSize: Int? = nil
  ) throws -> FetchedBatches<Record> {
    try FetchedBatches(RecordSource(request), batchSize: batchSize, in: self)
  }

  /// Reads the identities of the descriptor on one snapshot; the Swift values are read when they
  /// are accessed.
  public func fetchBatches<T: Entity>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int? = nil
  ) throws -> FetchedBatches<T> {
    try FetchedBatches(try RecordSource(descriptor), batchSize: batchSize, in: self)
  }
}

/// The numbers of values that were passed to a closure or left out, batch after batch.
public struct BatchesSummary: Hashable, Sendable {
  /// The number of values that were passed to the closure.
  public var returned = 0
  /// The number of records that were deleted after their identities had been read; the closure was
  /// not called for them.
  public var vanished = 0
}
