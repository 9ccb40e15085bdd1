import EntityModel
import Foundation

/// A long write that can be resumed: sync pages, imports, batch updates, pruning.
///
/// The work is divided into chunks. Each chunk is one transaction that holds rows, the checkpoint
/// (the position reached, in a type of the caller) and the counters. A process that is killed loses
/// at most the current chunk, and no flag has to be repaired. Other writers have their turn between
/// two chunks.
///
/// - Invariant: The progress stored under `name` describes exactly the committed rows.
public struct ChunkedWrite<Frontier: Codable & Sendable>: Sendable {
  /// The name of the write, unique among the unfinished writes of a store.
  public let name: String
  public var author: String?
  /// The largest number of rows in a chunk. A chunk ends at this number or after `duration`,
  /// whichever comes first.
  public var rowsMax = 2_000
  public var duration = Limits.chunkDuration
  /// Marks the checkpoint of a write that has ended. If it is set, the record of the progress stays
  /// stored, so that the write is not started a second time; the caller removes it later with
  /// `finish`.
  package var markEnded: (@Sendable (inout Frontier) -> Void)?

  public init(name: String, author: String? = nil) {
    self.name = name
    self.author = author
  }

  /// The state of a write: its checkpoint and its counters.
  public struct Progress: Sendable {
    public var frontier: Frontier
    public var rows: Int64
    public var chunks: Int64

    public init(frontier: Frontier, rows: Int64, chunks: Int64) {
      self.frontier = frontier
      self.rows = rows
      self.chunks = chunks
    }
  }

  /// The room that is left in the current chunk.
  public struct Chunk {
    public fileprivate(set) var rows = 0
    fileprivate let rowsMax: Int
    fileprivate let deadline: ContinuousClock.Instant

    fileprivate init(rowsMax: Int, deadline: ContinuousClock.Instant) {
      self.rowsMax = rowsMax
      self.deadline = deadline
    }

    /// Counts rows that were written.
    public mutating func add(rows: Int) { self.rows += rows }

    /// True while another row may be added.
    public var hasRoom: Bool { !isEnded && rows < rowsMax && ContinuousClock.now < deadline }

    /// Ends the chunk early, because the next row is not available yet.
    public mutating func end() { isEnded = true }

    private var isEnded = false
  }

  /// Runs the write to its end, starting where an interrupted run of the same name stopped.
  ///
  /// - Parameter start: The checkpoint of a write that begins.
  /// - Parameter step: Writes some rows, reports how many, advances the checkpoint, and returns
  ///   true while there is more to do. It is called repeatedly while the chunk has room. It must
  ///   depend on nothing but the store and the checkpoint, because after a crash it is called again
  ///   with the last committed checkpoint.
  /// - Parameter committed: Called after each commit with the committed progress.
  /// - Returns: The final progress. Its record is then removed from the store.
  /// - Throws: The error of a step; the chunks before it stay committed, and a later run continues
  ///   from there. `CancellationError` between two chunks, if the task is cancelled.
  public func run(
    on store: Store, from start: Frontier, committed: (Progress) -> Void = { _ in },
    step: @escaping @Sendable (WriteTransaction, inout Frontier, inout Chunk) throws -> Bool
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
  /// - Parameter start: The checkpoint of a write that begins.
  /// - Parameter step: As in `run`.
  /// - Returns: The progress, and true if the write has ended; its record is then removed, or
  ///   marked.
  public func runChunk(
    on store: Store, from start: Frontier,
    step: @escaping @Sendable (WriteTransaction, inout Frontier, inout Chunk) throws -> Bool
  ) async throws -> (progress: Progress, isDone: Bool) {
    try await store.write(author: author) { try writeChunk(from: start, in: $0, step: step) }
  }

  /// Writes one chunk within a transaction of the caller, who commits it.
  ///
  /// - Parameter start: The checkpoint of a write that begins.
  /// - Parameter step: As in `run`.
  /// - Returns: As `runChunk`.
  package func writeChunk(
    from start: Frontier, in transaction: WriteTransaction,
    step: (WriteTransaction, inout Frontier, inout Chunk) throws -> Bool
  ) throws -> (progress: Progress, isDone: Bool) {
    var progress = try load(in: transaction) ?? Progress(frontier: start, rows: 0, chunks: 0)
    var chunk = Chunk(rowsMax: rowsMax, deadline: .now + duration)
    var more = true
    while more, chunk.hasRoom {
      more = try step(transaction, &progress.frontier, &chunk)
    }
    progress.rows += Int64(chunk.rows)
    progress.chunks += 1
    if more {
      try save(progress, in: transaction)
    } else if let markEnded {
      markEnded(&progress.frontier)
      try save(progress, in: transaction)
    } else {
      try finish(in: transaction)
    }
    return (progress, !more)
  }

  /// Returns the committed progress of an interrupted run.
  ///
  /// - Returns: `nil` if there is none.
  /// - Throws: `damaged` if the stored checkpoint is not of this type; `finish` removes it.
  public func load(in transaction: ReadTransaction) throws -> Progress? {
    guard let record = try transaction.get(Self.entity, by: ["name": .string(name)]),
      case .data(let data) = try record["frontier"], case .int64(let rows) = try record["rows"],
      case .int64(let chunks) = try record["chunks"]
    else { return nil }
    do {
      let frontier = try JSONDecoder().decode(Frontier.self, from: data)
      return Progress(frontier: frontier, rows: rows, chunks: chunks)
    } catch {
      throw StoreError(
        .damaged, "the frontier of an interrupted write cannot be read", [("write", name)],
        advice: "start it again from the beginning")
    }
  }

  /// Stores the progress in the transaction, so that it is committed together with the rows.
  public func save(_ progress: Progress, in transaction: WriteTransaction) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    try transaction.upsert(
      Self.entity,
      [
        "name": .string(name), "frontier": .data(try encoder.encode(progress.frontier)),
        "rows": .int64(progress.rows), "chunks": .int64(progress.chunks),
        "updatedAt": .date(transaction.now),
      ], by: ["name"])
  }

  /// Ends the write: removes its stored progress, also that of an interrupted run.
  public func finish(in transaction: WriteTransaction) throws {
    if let id = try transaction.objectID(Self.entity, by: ["name": .string(name)]) {
      try transaction.delete(id)
    }
  }

  private static var entity: String { "_ChunkedWrite" }
}
