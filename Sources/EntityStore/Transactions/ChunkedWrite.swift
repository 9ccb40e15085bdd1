import EntityModel
import Foundation

/// A long write that can be resumed: sync pages, imports, batch updates, pruning.
///
/// It goes through in chunks. Each chunk is one transaction that holds rows, the frontier (how
/// far it has come, in the caller's own words) and the counters; so a kill at any moment loses at
/// most the chunk that was under way, and there is no flag to repair. Between chunks other writers
/// have their turn.
///
/// - Invariant: what is stored under `name` is exactly what the committed rows amount to.
public struct ChunkedWrite<Frontier: Codable & Sendable>: Sendable {
  /// Unique among the writes under way in a store.
  public let name: String
  public var author: String?
  /// A chunk ends at the first of these.
  public var rowsMax = 2_000
  public var duration = Limits.chunkDuration
  /// Keeps the record of a write that has ended, with its frontier marked by this: for who must not
  /// begin it again, and drops the record later (`finish`).
  package var markEnded: (@Sendable (inout Frontier) -> Void)?

  public init(name: String, author: String? = nil) {
    self.name = name
    self.author = author
  }

  /// How far a write has come.
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

  /// The room that is left in the chunk under way.
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

    /// Whether another row may be added.
    public var hasRoom: Bool { !isEnded && rows < rowsMax && ContinuousClock.now < deadline }

    /// Ends the chunk though there is room: what comes next is not there yet.
    public mutating func end() { isEnded = true }

    private var isEnded = false
  }

  /// Runs the write to its end, from where an interrupted run of the same name stopped.
  ///
  /// - Parameter start: The frontier of a write that begins.
  /// - Parameter step: Writes some rows, says how many, advances the frontier, and returns whether
  ///   there is more. Called again and again while the chunk has room. It must depend on nothing
  ///   but the store and the frontier, because after a kill it is called again with the last
  ///   frontier that was committed.
  /// - Parameter committed: Called after each chunk with what is committed by then.
  /// - Returns: The final progress; its record is then gone from the store.
  /// - Throws: What a step throws; the chunks before it stay, and a later run goes on from there.
  ///   `CancellationError` between two chunks, if the task is cancelled.
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

  /// Runs one chunk, for a caller that has something to wait for between two of them.
  ///
  /// - Parameter start: The frontier of a write that begins.
  /// - Parameter step: As in `run`.
  /// - Returns: The progress, and whether there is no more; its record is then gone, or marked.
  public func runChunk(
    on store: Store, from start: Frontier,
    step: @escaping @Sendable (WriteTransaction, inout Frontier, inout Chunk) throws -> Bool
  ) async throws -> (progress: Progress, isDone: Bool) {
    try await store.write(author: author) { try writeChunk(from: start, in: $0, step: step) }
  }

  /// Writes one chunk within a transaction of the caller, who commits it.
  ///
  /// - Parameter start: The frontier of a write that begins.
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

  /// What an interrupted run has reached.
  ///
  /// - Returns: `nil` if none is under way.
  /// - Throws: `damaged` if the frontier is not of this type: then `finish` drops it.
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

  /// Commits the progress together with the rows of the transaction.
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

  /// Ends the write, or drops what an interrupted one has reached.
  public func finish(in transaction: WriteTransaction) throws {
    if let id = try transaction.objectID(Self.entity, by: ["name": .string(name)]) {
      try transaction.delete(id)
    }
  }

  private static var entity: String { "_ChunkedWrite" }
}
