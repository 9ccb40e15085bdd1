public import EntityModel

/// The results of a fetch as an asynchronous sequence of batches, for results that are larger than
/// memory or take longer than a snapshot should live. `FetchedBatches` is the blocking variant.
///
/// Each iteration is a fetch of its own. It reads the identities on one snapshot, 8 bytes each, and
/// then reads each batch on a new snapshot, on the store's own threads, when the caller asks for
/// it: nothing is read ahead and no snapshot is pinned between two batches. A record has the values
/// of the time when its batch is read, even if it no longer matches. Cancelling the task ends the
/// iteration with `CancellationError`; an abandoned iteration holds only its identities.
public struct AsynchronousBatches<Element: Sendable>: AsyncSequence, Sendable {
  fileprivate let store: Store
  fileprivate let source: RecordSource<Element>
  fileprivate let options: AsynchronousFetchOptions

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(batches: self) }

  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let batches: AsynchronousBatches
    /// The record ids that were read first; `nil` before the first batch.
    fileprivate var identities: [Int64]?
    fileprivate var completed = 0

    /// Returns the next batch.
    ///
    /// - Returns: `nil` at the end, and after an error.
    /// - Throws: As `fetch`; `CancellationError`; `snapshotExpired` if the identities or one batch
    ///   took longer than a snapshot may live.
    public mutating func next() async throws -> FetchedBatch<Element>? {
      do {
        return try await nextBatch()
      } catch {
        (identities, completed) = ([], 0)
        throw error
      }
    }

    private mutating func nextBatch() async throws -> FetchedBatch<Element>? {
      let source = batches.source
      let batchSize = try source.batchSize(batches.options.batchSize)
      let identities = try await identitiesOnce()
      guard completed < identities.count else { return nil }
      let ids = identities.dropFirst(completed).prefix(batchSize)
      let read = try await batches.store.readAsynchronously(options: batches.options) {
        try source.read(ids, in: $0)
      }
      completed += ids.count
      let values = read.compactMap { $0 }
      return FetchedBatch(
        values: values, vanished: read.count - values.count,
        progress: FetchProgress(completed: completed, total: identities.count))
    }

    private mutating func identitiesOnce() async throws -> [Int64] {
      if let identities { return identities }
      let source = batches.source
      let taken = try await batches.store.readAsynchronously(options: batches.options) {
        try source.identities(in: $0)
      }
      identities = taken
      return taken
    }
  }
}

/// A part of the results of a fetch, read on one snapshot.
public struct FetchedBatch<Element: Sendable>: Sendable {
  public let values: [Element]
  /// The number of this batch's records that were deleted after their identities had been read.
  public let vanished: Int
  /// The progress of the fetch including this batch.
  public let progress: FetchProgress
}

extension Store {
  /// Returns the records of a request as a sequence of batches. Nothing is read before the first
  /// batch is requested.
  public func fetchBatchesAsynchronously(
    _ request: FetchRequest, options: AsynchronousFetchOptions = .init()
  ) -> AsynchronousBatches<Record> {
    AsynchronousBatches(store: self, source: RecordSource(request), options: options)
  }

  /// Returns the values of a descriptor as a sequence of batches. Nothing is read before the first
  /// batch is requested.
  ///
  /// - Throws: `invalidRequest` for a sort that names no attribute.
  public func fetchBatchesAsynchronously<T: Entity>(
    _ descriptor: FetchDescriptor<T>, options: AsynchronousFetchOptions = .init()
  ) throws -> AsynchronousBatches<T> {
    AsynchronousBatches(store: self, source: try RecordSource(descriptor), options: options)
  }
}
