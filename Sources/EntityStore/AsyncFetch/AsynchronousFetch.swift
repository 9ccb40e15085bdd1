import SystemSupport

/// A fetch that runs on the store's own threads, concurrently with its caller: Core Data's
/// asynchronous fetch and its result.
///
/// It begins immediately. It reads everything on one snapshot, which never lives longer than the
/// options allow. When the last reference to this object is released, an unfinished fetch is
/// cancelled.
///
/// Threads: may be used by any number of them at once.
public final class AsynchronousFetch<Value: Sendable>: Sendable {
  private let run: FetchRun<Value>

  init(
    _ store: Store, _ options: AsynchronousFetchOptions,
    _ work: @escaping @Sendable (ReadTransaction, FetchReport) throws -> Value
  ) {
    let run = FetchRun<Value> { run in
      try store.read { transaction in
        try transaction.endingWhen({ run.isCancelled }, options) {
          try work(transaction, FetchReport { run.report($0) })
        }
      }
    }
    self.run = run
    store.fetchThreads.submit { run.perform() }
  }

  deinit { run.cancel() }

  /// The complete result. Waits for it without blocking a thread; when this returns or throws, the
  /// snapshot has ended. It can be read any number of times.
  ///
  /// Cancelling the waiting task cancels the fetch.
  ///
  /// - Throws: The fetch's error; `CancellationError` if it was cancelled before its end;
  ///   `snapshotExpired` if it took longer than its snapshot may live. There are no partial
  ///   results.
  public var value: Value {
    get async throws {
      try await withTaskCancellationHandler {
        try await run.value
      } onCancel: {
        run.cancel()
      }
    }
  }

  /// The current progress.
  public var progress: FetchProgress { run.progress }

  /// The current progress and each change of it, until the fetch ends. A slow reader gets only the
  /// newest value. A reference to the sequence does not keep the fetch alive.
  public var progressUpdates: AsyncStream<FetchProgress> { run.observe() }

  /// Ends the fetch: immediately if it waits for a thread, else within a few hundred rows. Does
  /// nothing after the end of the fetch.
  public func cancel() { run.cancel() }
}

/// Counts what a fetch has read, and reports it at intervals.
final class FetchReport {
  private let report: (FetchProgress) -> Void
  private var progress = FetchProgress()

  init(_ report: @escaping (FetchProgress) -> Void) { self.report = report }

  func begin(total: Int?) {
    progress.total = total
    report(progress)
  }

  func add() {
    progress.completed += 1
    if progress.completed % Limits.visitsPerCheck == 0 { report(progress) }
  }

  func end() {
    progress.total = progress.completed
    report(progress)
  }
}

extension ReadTransaction {
  /// Runs the closure; its reads fail with an error if the fetch is cancelled or takes too long.
  fileprivate func endingWhen<R>(
    _ isCancelled: @escaping () -> Bool, _ options: AsynchronousFetchOptions, _ body: () throws -> R
  ) throws -> R {
    let beginning = options.now()
    interruption = {
      if isCancelled() { throw CancellationError() }
      guard beginning.duration(to: options.now()) < options.snapshotLimit else {
        throw StoreError(
          .snapshotExpired, "a read took longer than the limit for its snapshot",
          [("limit", "\(options.snapshotLimit)")],
          advice: "raise the limit, fetch fewer records, or fetch in batches")
      }
    }
    defer { interruption = nil }
    return try body()
  }
}
