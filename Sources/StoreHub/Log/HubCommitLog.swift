package import EntityStore
import Foundation
package import LMDB
import PostgreSQL
import SystemSupport

/// The commit log of a hub: rows of a PostgreSQL database that all machines of a store reach.
///
/// The lock of the hub's row is the turn to write. It is held by a transaction of the server, which
/// ends it when the connection ends or when the writer has been silent for `silenceMax`: the commit
/// of such a writer fails. So no clock of a machine decides, and nothing has to be fenced.
package final class HubCommitLog: CommitLog {
  package let hub: UInt128
  package var machineName: String { address.membership.machineName }
  let address: HubAddress
  /// The locks of this process, without which it may not write any more.
  private let locks: HubLocks?
  private let clock: HubClock?
  let connections: HubConnections
  let bell: HubBell

  /// The time after which the server ends the turn of a writer that sends nothing.
  static let silenceMax = Duration.seconds(5)

  package convenience init(_ address: HubAddress) {
    self.init(address, locks: nil, clock: nil)
  }

  init(_ address: HubAddress, locks: HubLocks?, clock: HubClock?) {
    self.address = address
    self.locks = locks
    self.clock = clock
    hub = address.membership.hub.number
    connections = HubConnections(address.database)
    bell = HubBell(address)
  }

  package func beginTurn(
    after position: LogPosition, within limit: Duration
  ) throws -> any LogTurn {
    let deadline = ContinuousClock.now + limit + HubConnections.answerMax
    let held = locks?.heldNames ?? []
    var query = EntryQuery(
      address.hub, after: position, locking: Self.begin(within: limit),
      fence: held.isEmpty ? nil : locks?.fenceStatement)
    let connection = try run(&query, until: deadline)
    clock?.note(query.time)
    let turn = HubTurn(self, query, connection, bell)
    let lost = held.subtracting(query.fenceNames).intersection(locks?.heldNames ?? [])
    guard let first = lost.sorted().first else { return turn }
    turn.giveUp()
    throw StorageError(
      .busy, "another machine has taken over the work of this process",
      context: [("lock", first)], advice: "run it again")
  }

  package func tail(after position: LogPosition) throws -> any LogTail {
    var query = EntryQuery(address.hub, after: position)
    let connection = try run(&query, until: .now + HubConnections.answerMax)
    clock?.note(query.time)
    return HubTail(self, query, connection)
  }

  /// Begins a query on a kept connection or, if that has ended since, on a new one: its statements
  /// change nothing.
  private func run(
    _ query: inout EntryQuery, until deadline: ContinuousClock.Instant
  ) throws -> Connection {
    var connection = try connections.take(until: deadline)
    do {
      try query.run(on: &connection, until: deadline)
      return connection
    } catch let error as PostgreSQLError where error.code == .connectionLost {
    } catch {
      throw StorageError(hub: error)
    }
    connection = try connections.connect(until: deadline)
    do { try query.run(on: &connection, until: deadline) } catch { throw StorageError(hub: error) }
    return connection
  }

  /// The statements that begin the transaction of a turn.
  static func begin(within limit: Duration, silence: Duration = silenceMax) -> [Statement] {
    [
      // A row that was locked is then read as its last holder has left it.
      "BEGIN ISOLATION LEVEL READ COMMITTED",
      Statement("SET LOCAL lock_timeout = \(max(1, Int(limit / .milliseconds(1))))"),
      allow(silence),
    ]
  }

  /// The statement by which the server waits for so long for the next one of the transaction.
  static func allow(_ silence: Duration) -> Statement {
    Statement("SET LOCAL idle_in_transaction_session_timeout = \(Int(silence / .milliseconds(1)))")
  }
}

/// The entries after a position, without a turn. A batch of parts is in memory at a time.
///
/// After a large batch it looks once for entries that were appended while that was applied. They
/// are then visible with its commit, and need not wait for it.
final class HubTail: LogTail {
  private let log: HubCommitLog
  private var hasLookedAgain = false
  private var query: EntryQuery
  private var connection: Connection?

  init(_ log: HubCommitLog, _ query: EntryQuery, _ connection: consuming Connection) {
    self.log = log
    self.query = query
    self.connection = consume connection
  }

  deinit {
    if let connection = connection.take() { log.connections.put(connection) }
  }

  func nextPart() throws -> LogPart? {
    if let part = query.nextPart() { return part }
    if !query.hasMore {
      guard query.isLarge, !hasLookedAgain else { return nil }
      hasLookedAgain = true
    }
    guard var connection = connection.take() else { return nil }
    do {
      try query.runNext(on: &connection, until: .now + HubConnections.answerMax)
    } catch { throw StorageError(hub: error) }
    self.connection = consume connection
    return query.nextPart()
  }
}

extension HubAddress {
  /// Lets a store that is opened with the options share its commits, its locks and its time, and
  /// look for commits of other processes when the hub's locks are renewed.
  package func addLog(to options: inout Store.Options) {
    let (locks, clock) = (HubLocks(self), HubClock(options.now))
    options.commitLog = HubCommitLog(self, locks: locks, clock: clock)
    options.sharedLocks = locks
    options.pollTimer = locks.pulse.pollTimer
    options.now = { clock.now }
  }
}
