import Foundation
import LMDB
import PostgreSQL
import SystemSupport

/// A turn to write: a transaction of the server that has locked the hub's row.
///
/// The last part of the entry waits here, so that an entry of one part is written, and committed,
/// in one round trip.
final class HubTurn: LogTurn {
  private let log: HubCommitLog
  private var query: EntryQuery
  private var connection: Connection?
  private let bell: HubBell
  private let nonce = UUID()
  /// The number of parts that were given.
  private var count = 0
  /// The last of them, if the server does not have it yet.
  private var waiting: [UInt8]?
  private var isCommitted = false

  init(
    _ log: HubCommitLog, _ query: EntryQuery, _ connection: consuming Connection, _ bell: HubBell
  ) {
    self.log = log
    self.query = query
    self.connection = consume connection
    self.bell = bell
  }

  deinit { giveUp() }

  var time: Double { query.time }
  var head: LogPosition { query.head }

  func nextPart() throws -> LogPart? {
    if let part = query.nextPart() { return part }
    guard query.hasMore else { return nil }
    try run { try query.runNext(on: &$0, until: $1) }
    return query.nextPart()
  }

  func write(_ part: UnsafeRawBufferPointer) throws {
    if let waiting {
      let insertion = insertion(of: waiting, number: count - 1, chain: nil)
      try run { try $0.execute([insertion], until: $1) }
    }
    waiting = Array(part)
    count += 1
  }

  func takeBack(toPart count: Int) throws {
    guard count < self.count else { return }
    if waiting != nil {
      waiting = nil
      self.count -= 1
    }
    if count < self.count {
      let deletion = Statement(
        "DELETE FROM mooring.entry WHERE store = $1 AND seq = $2 AND part >= $3",
        .uuid(log.address.hub), sequence, .int4(Int32(clamping: count)))
      try run { try $0.execute([deletion], until: $1) }
    }
    self.count = count
  }

  func commit(_ position: LogPosition) throws -> StorageError? {
    let hub = Parameter.uuid(log.address.hub)
    let last =
      waiting.map { insertion(of: $0, number: count - 1, chain: position.chain) }
      ?? Statement(
        "UPDATE mooring.entry SET chain = $4 WHERE store = $1 AND seq = $2 AND part = $3",
        hub, sequence, .int4(Int32(clamping: count - 1)), .bytes(position.chain.bytes))
    let statements = [
      last,
      Statement(
        "UPDATE mooring.store SET seq = $2, chain = $3, clock = $4 WHERE id = $1",
        hub, sequence, .bytes(position.chain.bytes), .double(time)),
      .commit,
    ]
    do {
      try execute(statements)
      isCommitted = true
    } catch let error as PostgreSQLError {
      if error.isOutcomeKnown { return StorageError(hub: error) }
      isCommitted = try isThere(position)
    }
    return isCommitted ? nil : lost
  }

  /// Keeps the server for so long from taking the turn for abandoned.
  ///
  /// - Throws: `StorageError` with `.busy` if it has done so already.
  func keepAlive(for silence: Duration) throws(StorageError) {
    try run { try $0.execute([HubCommitLog.allow(silence)], until: $1) }
  }

  func giveUp() {
    guard var connection = connection.take() else { return }
    if isCommitted {
      bell.ring()
    } else if case .idle = connection.transactionState {
    } else if (try? connection.execute(.rollback, until: .now + HubConnections.answerMax)) == nil {
      // The server rolls it back when the connection is closed, which happens here.
      return
    }
    log.connections.put(connection)
  }

  /// Looks up whether the log has the entry, after the answer to its commit was lost.
  ///
  /// Waits for the lock of the hub's row: the transaction that had it is over then. Asks again and
  /// again, because a server that has died is replaced by its standby within seconds.
  ///
  /// - Throws: `StorageError` with `.unreachable` or `.busy`.
  private func isThere(_ position: LogPosition) throws(StorageError) -> Bool {
    let deadline = ContinuousClock.now + HubCommitLog.silenceMax + HubConnections.answerMax
    while true {
      do throws(StorageError) {
        return try isThere(position, until: deadline)
      } catch {
        guard error.code == .unreachable, ContinuousClock.now < deadline else { throw error }
        usleep(Self.lookupPause)
      }
    }
  }

  private static let lookupPause: UInt32 = 100_000

  private func isThere(
    _ position: LogPosition, until deadline: ContinuousClock.Instant
  ) throws(StorageError) -> Bool {
    var isThere = false
    var connection = try log.connections.connect(until: deadline)
    do {
      let first = HubCommitLog.begin(within: HubCommitLog.silenceMax + .seconds(5))
      _ = try connection.run(
        first + [
          Statement(
            "SELECT seq FROM mooring.store WHERE id = $1 FOR UPDATE", .uuid(log.address.hub)),
          Statement(
            """
            SELECT count(*) FROM mooring.entry
            WHERE store = $1 AND seq = $2 AND nonce = $3 AND chain = $4
            """, .uuid(log.address.hub), sequence, .uuid(nonce), .bytes(position.chain.bytes)),
          .rollback,
        ], until: deadline
      ) { number, row in
        if number == first.count + 1 { isThere = try row.int8(0) == 1 }
      }
    } catch { throw StorageError(hub: error) }
    self.connection = consume connection
    return isThere
  }

  /// The number of the new entry.
  private var sequence: Parameter { .int8(Int64(clamping: head.sequence + 1)) }

  private func insertion(of part: [UInt8], number: Int, chain: UInt128?) -> Statement {
    Statement(
      """
      INSERT INTO mooring.entry (store, seq, part, machine, nonce, chain, body)
      VALUES ($1, $2, $3, $4, $5, $6, $7)
      """, .uuid(log.address.hub), sequence, .int4(Int32(clamping: number)),
      .uuid(log.address.machine), .uuid(nonce), chain.map { .bytes($0.bytes) } ?? .null,
      .bytes(part))
  }

  private func execute(_ statements: [Statement]) throws {
    guard var connection = connection.take() else { throw ended }
    do {
      try connection.execute(statements, until: .now + HubConnections.answerMax)
    } catch {
      self.connection = consume connection
      throw error
    }
    self.connection = consume connection
  }

  private func run(
    _ body: (inout Connection, ContinuousClock.Instant) throws -> Void
  ) throws(StorageError) {
    guard var connection = connection.take() else { throw ended }
    do {
      try body(&connection, .now + HubConnections.answerMax)
    } catch { throw StorageError(hub: error) }
    self.connection = consume connection
  }

  private var ended: StorageError {
    StorageError(.unreachable, "the turn to write has ended", advice: "try again")
  }

  private var lost: StorageError {
    StorageError(.busy, "the turn to write ended before the commit", advice: "try again")
  }
}
