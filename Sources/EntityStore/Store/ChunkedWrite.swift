/// A long write in chunks that can be resumed: an import, or a batch update, deletion or insert.
///
/// A transaction holds the rows of one chunk or several, and the checkpoint. It takes chunks while
/// nobody else waits to write (see `CommitBudget`). A process that is killed loses at most the
/// transaction under way, a second's work, and no flag has to be repaired. Readers see the rows of
/// a transaction after its commit.
///
/// - Invariant: The stored checkpoint describes exactly the committed rows.
public struct ChunkedWrite<Position: Codable & Sendable>: Sendable {
  public let checkpoint: Checkpoint<Position>
  public var author: String?
  /// The largest number of rows in a chunk. A chunk ends at this number or after `duration`,
  /// whichever comes first (see ``ChunkBudget``); then other writers have their turn.
  public var rowsMax = 2_000
  public var duration = StoreLimits.chunkDuration
  /// The most pages that a transaction of several chunks changes.
  package var dirtyPagesMax = StoreLimits.dirtyPagesMax
  /// Marks the position of a write that has ended. If it is set, the checkpoint stays stored, so
  /// that the write is not started a second time; the caller removes it later.
  package var markEnded: (@Sendable (inout Position) -> Void)?

  public init(name: String, author: String? = nil) {
    checkpoint = Checkpoint(name: name)
    self.author = author
  }

  public typealias Progress = Checkpoint<Position>.Progress

  /// Runs the write to its end, starting where an interrupted run of the same name stopped.
  ///
  /// - Parameter start: The position of a write that begins.
  /// - Parameter step: Writes some rows, reports how many, advances the checkpoint, and returns
  ///   true while there is more to do. It is called repeatedly while the chunk has room. It must
  ///   depend on nothing but the store and the checkpoint, because after a crash it is called again
  ///   with the last committed checkpoint.
  /// - Parameter committed: Called after each commit with the committed progress.
  /// - Returns: The final progress. Its record is then removed from the store.
  /// - Throws: The error of a step; the chunks before it stay committed, and a later run continues
  ///   from there. `CancellationError` between two chunks, if the task is cancelled.
  public func run(
    on store: Store, from start: Position, committed: (Progress) -> Void = { _ in },
    step: @escaping @Sendable (WriteTransaction, inout Position, inout ChunkBudget) throws -> Bool
  ) async throws -> Progress {
    while true {
      try Task.checkCancellation()
      let (progress, isDone) = try await runChunk(on: store, from: start, step: step)
      committed(progress)
      if isDone { return progress }
    }
  }

  /// Runs one chunk, for a caller that has to wait for something between two chunks.
  ///
  /// - Parameter start: The position of a write that begins.
  /// - Parameter step: As in `run`.
  /// - Returns: The progress, and true if the write has ended; its record is then removed, or
  ///   marked.
  public func runChunk(
    on store: Store, from start: Position,
    step: @escaping @Sendable (WriteTransaction, inout Position, inout ChunkBudget) throws -> Bool
  ) async throws -> (progress: Progress, isDone: Bool) {
    try await store.write(author: author) { try writeChunk(from: start, in: $0, step: step) }
  }

  /// Writes one chunk within a transaction of the caller, who commits it.
  ///
  /// - Parameter start: The position of a write that begins.
  /// - Parameter step: As in `run`.
  /// - Returns: As `runChunk`.
  package func writeChunk(
    from start: Position, in transaction: WriteTransaction,
    step: (WriteTransaction, inout Position, inout ChunkBudget) throws -> Bool
  ) throws -> (progress: Progress, isDone: Bool) {
    var progress =
      try checkpoint.load(in: transaction) ?? Progress(position: start, rows: 0, chunks: 0)
    var chunk = ChunkBudget(rowsMax: rowsMax, duration: duration)
    var more = true
    while true {
      while more, chunk.hasRoom {
        more = try step(transaction, &progress.position, &chunk)
      }
      progress.chunks += 1
      guard more, chunk.hasNext, try transaction.hasRoomForChunk(dirtyPagesMax: dirtyPagesMax)
      else { break }
      chunk.extend()
    }
    progress.rows += Int64(chunk.rows)
    if !more { markEnded?(&progress.position) }
    if more || markEnded != nil {
      try checkpoint.save(
        progress.position, rows: progress.rows, chunks: progress.chunks, in: transaction)
    } else {
      try checkpoint.remove(in: transaction)
    }
    return (progress, !more)
  }
}
