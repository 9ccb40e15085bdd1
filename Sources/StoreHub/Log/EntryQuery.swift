import Foundation
import LMDB
import PostgreSQL
import SystemSupport

/// Reads the head of a log and the parts of its entries after a position, in batches.
struct EntryQuery {
  private let hub: UUID
  /// The statements that begin the transaction of a turn; none without a turn.
  private let beginning: [Statement]
  /// Selects the names of the locks that the process has.
  private let fence: Statement?
  private(set) var fenceNames: Set<String> = []
  /// The position of the store.
  private let start: LogPosition
  /// The position after the newest entry.
  private(set) var head: LogPosition
  /// The time of the turn, in seconds since 2001.
  private(set) var time = 0.0
  /// False when the last batch was read.
  private(set) var hasMore = true
  /// True if the last batch is so large that others may have committed when it is applied.
  private(set) var isLarge = false
  private var parts: ArraySlice<LogPart> = []
  /// The last part that was read.
  private var last: (sequence: UInt64, part: Int32)

  /// The parts in one answer. A part has 1 MiB and an operation more at most.
  private static let partsPerAnswer = 16
  /// The bytes that are applied in about two milliseconds.
  private static let largeBatch = 1 << 18

  /// - Parameter beginning: The statements that begin the transaction of a turn. The query then
  ///   waits for the lock of the hub's row.
  init(
    _ hub: UUID, after position: LogPosition, locking beginning: [Statement] = [],
    fence: Statement? = nil
  ) {
    self.hub = hub
    self.beginning = beginning
    self.fence = fence
    start = position
    head = position
    last = (position.sequence, .max)
  }

  /// Reads the head and the first parts.
  ///
  /// - Throws: `PostgreSQLError`; `StorageError` with `.diverged` if the log does not have the
  ///   position, with `.needsCommitLog` if there is no such hub, with `.damaged`.
  mutating func run(
    on connection: inout Connection, until deadline: ContinuousClock.Instant
  ) throws {
    let first = beginning.count
    var row: HeadRow?
    var anchor: UInt128?
    var received: [LogPart] = []
    var lastPart: Int32?
    var names: Set<String> = []
    var clock = 0.0
    _ = try connection.run(
      beginning + [headStatement, anchorStatement, partsStatement, clockStatement]
        + (fence.map { [$0] } ?? []), until: deadline
    ) { number, result in
      switch number - first {
      case 0: row = try HeadRow(result)
      case 1: anchor = try result.chain(0)
      case 2:
        received.append(try LogPart(result))
        lastPart = try result.int4(1)
      case 3: clock = try result.double(0) ?? 0
      case 4: names.insert(try result.text(0) ?? "")
      default: break
      }
    }
    guard let row else { throw noHub }
    fenceNames = names
    guard row.format == HubSchema.format else {
      throw StorageError.newerHub(hub.uuidString)
    }
    head = LogPosition(hub: start.hub, sequence: row.sequence, chain: row.chain)
    time = max(row.time, clock)
    try check(row, anchor: anchor)
    take(received, lastPart)
  }

  /// Reads the next parts.
  mutating func runNext(
    on connection: inout Connection, until deadline: ContinuousClock.Instant
  ) throws {
    var received: [LogPart] = []
    var lastPart: Int32?
    _ = try connection.run([partsStatement], until: deadline) { _, result in
      received.append(try LogPart(result))
      lastPart = try result.int4(1)
    }
    take(received, lastPart)
  }

  mutating func nextPart() -> LogPart? { parts.popFirst() }

  private mutating func take(_ received: [LogPart], _ lastPart: Int32?) {
    hasMore = received.count == Self.partsPerAnswer
    isLarge = received.reduce(0) { $0 + $1.bytes.count } >= Self.largeBatch
    parts = received[...]
    if let part = received.last, let lastPart { last = (part.sequence, lastPart) }
  }

  /// Checks that the log has the position of the store.
  private func check(_ row: HeadRow, anchor: UInt128?) throws {
    if start.sequence == row.sequence, start.chain == row.chain { return }
    guard start.sequence < row.sequence else { throw diverged }
    guard start.sequence + 1 >= row.firstSequence else { throw lacksEntries }
    if start.sequence == 0 {
      guard start.chain == 0 else { throw diverged }
    } else if let anchor, anchor != start.chain {
      throw diverged
    }
  }

  // MARK: Statements

  private var headStatement: Statement {
    Statement(
      """
      SELECT seq, chain, first_seq, format, clock
      FROM mooring.store WHERE id = $1\(beginning.isEmpty ? "" : " FOR UPDATE")
      """, .uuid(hub))
  }

  /// After the wait for the lock, during which time has passed.
  private let clockStatement: Statement =
    "SELECT extract(epoch FROM clock_timestamp())::float8 - 978307200"

  private var anchorStatement: Statement {
    Statement(
      "SELECT chain FROM mooring.entry WHERE store = $1 AND seq = $2 AND chain IS NOT NULL",
      .uuid(hub), .int8(Int64(clamping: start.sequence)))
  }

  private var partsStatement: Statement {
    Statement(
      """
      SELECT seq, part, chain, body FROM mooring.entry
      WHERE store = $1 AND (seq, part) > ($2, $3)
      ORDER BY seq, part LIMIT \(Self.partsPerAnswer)
      """, .uuid(hub), .int8(Int64(clamping: last.sequence)), .int4(last.part))
  }

  // MARK: Errors

  private var noHub: StorageError {
    StorageError(
      .needsCommitLog, "the database does not have the hub of this store",
      context: [("hub", hub.uuidString)], advice: "check the name of the database")
  }

  private var diverged: StorageError {
    StorageError(
      .diverged, "the store has commits that its hub does not have",
      context: [
        ("entry here", String(start.sequence)), ("newest entry", String(head.sequence)),
      ], advice: "keep a copy of the store, and join it to its hub again")
  }

  private var lacksEntries: StorageError {
    StorageError(
      .diverged, "the hub no longer has the entries that this store lacks",
      context: [("entry here", String(start.sequence)), ("newest entry", String(head.sequence))],
      advice: "join the store to its hub again")
  }
}

/// The row of a hub.
private struct HeadRow {
  let sequence: UInt64
  let chain: UInt128
  let firstSequence: UInt64
  let format: Int32
  let time: Double

  init(_ row: borrowing ResultRow) throws {
    sequence = try row.sequence(0)
    chain = try row.chain(1) ?? 0
    firstSequence = try row.sequence(2)
    format = try row.int4(3) ?? 0
    time = try row.double(4) ?? 0
  }
}

extension LogPart {
  fileprivate init(_ row: borrowing ResultRow) throws {
    self.init(
      sequence: try row.sequence(0), bytes: try row.bytes(3) ?? [], chain: try row.chain(2))
  }
}
