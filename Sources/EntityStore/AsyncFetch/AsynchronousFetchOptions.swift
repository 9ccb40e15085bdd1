/// How an asynchronous fetch runs.
public struct AsynchronousFetchOptions: Sendable {
  /// No snapshot of the fetch is pinned for longer: the file cannot reuse the pages of a pinned
  /// one. Measured from the beginning of the snapshot, not from that of the fetch, which may wait
  /// for its turn.
  public var snapshotLimit = Duration.seconds(5)
  /// Records of one batch; 0 leaves it to the request's `fetchBatchSize`, and that to the store.
  /// Only batches look at it.
  public var batchSize = 0
  /// What the limit is measured by.
  package var now: @Sendable () -> ContinuousClock.Instant = { .now }

  public init(snapshotLimit: Duration = .seconds(5), batchSize: Int = 0) {
    self.snapshotLimit = snapshotLimit
    self.batchSize = batchSize
  }
}

/// How far a fetch has come.
public struct FetchProgress: Hashable, Sendable {
  /// Records or rows that have been read.
  public var completed = 0
  /// How many there will be; `nil` while that is not known.
  public var total: Int?
}
