/// The options of an asynchronous fetch.
public struct AsynchronousFetchOptions: Sendable {
  /// The longest time for which the fetch pins a snapshot: the file cannot reuse the pages of a
  /// pinned snapshot. Measured from the beginning of the snapshot, not from that of the fetch,
  /// which may wait for a thread.
  public var snapshotLimit = Duration.seconds(5)
  /// The number of records in one batch, at least 1; `nil` uses the request's `fetchBatchSize`, or
  /// else the store's default. Only fetches in batches use it.
  public var batchSize: Int?
  /// The clock by which the limit is measured.
  package var now: @Sendable () -> ContinuousClock.Instant = { .now }

  public init(snapshotLimit: Duration = .seconds(5), batchSize: Int? = nil) {
    self.snapshotLimit = snapshotLimit
    self.batchSize = batchSize
  }
}

/// The progress of a fetch.
public struct FetchProgress: Hashable, Sendable {
  /// The number of records or rows that have been read.
  public var completed = 0
  /// The number of records or rows in total; `nil` while it is not known.
  public var total: Int?
}
