import Foundation
import Synchronization
import SystemSupport
import TestSupport

@testable import EntityStore
@testable import LMDB

/// The hub of several machines, in virtual time: their commit log, and their locks, which end when
/// the machine that has one no longer renews it.
final class SimulatedHub: Sendable {
  fileprivate struct Row {
    var link: Int
    /// The process that has taken it.
    var holder: Int
    /// The end: `Int.max` while the holder renews it.
    var until: Int
    var note: SharedNote?
  }

  /// The milliseconds after which a lock ends that is not renewed.
  static let patience = 15_000

  fileprivate let log = MemoryCommitLog()
  fileprivate let rows = Mutex<[String: Row]>([:])
  private let clock: VirtualClock

  init(clock: VirtualClock) { self.clock = clock }

  fileprivate var now: Int { clock.elapsed }
}

/// The link of a machine to the hub, and of its process: one at a time.
final class HubLink: CommitLog, SharedLocks {
  private struct State {
    var isCut = false
    /// True while a process dies: nothing that it does reaches the hub.
    var isDying = false
    /// The number of the process.
    var holder = 0
    var held: Set<String> = []
    var notes: [String: SharedNote] = [:]
  }

  let number: Int
  let machineName: String
  private let server: SimulatedHub
  private let state = Mutex(State())

  init(_ number: Int, of hub: SimulatedHub) {
    (self.number, server) = (number, hub)
    machineName = "machine \(number)"
  }

  var hub: UInt128 { server.log.hub }

  // MARK: Faults

  var isCut: Bool { state.withLock(\.isCut) }

  /// Cuts the link, or restores it. A machine that is back renews the locks that nobody has taken.
  func cut(_ isCut: Bool) {
    let (holder, held) = state.withLock { state in
      state.isCut = isCut
      return (state.holder, state.held)
    }
    let end = isCut ? server.now + SimulatedHub.patience : .max
    server.rows.withLock { rows in
      for name in held where isOwn(rows[name], holder) { rows[name]?.until = end }
    }
  }

  /// The process dies: its locks end when their time is over, or with the next process here.
  func beginDeath() {
    let (holder, held) = state.withLock { state in
      state.isDying = true
      defer { state.held = [] }
      return (state.holder, state.held)
    }
    let end = server.now + SimulatedHub.patience
    server.rows.withLock { rows in
      for name in held where isOwn(rows[name], holder) {
        if let until = rows[name]?.until { rows[name]?.until = min(until, end) }
      }
    }
  }

  func endDeath() {
    state.withLock { state in
      state.isDying = false
      state.holder += 1
    }
  }

  private func isOwn(_ row: SimulatedHub.Row?, _ holder: Int) -> Bool {
    row?.link == number && row?.holder == holder
  }

  private func requireLink() throws {
    if state.withLock({ $0.isCut || $0.isDying }) {
      throw StorageError(.unreachable, "the hub does not answer", advice: "try again")
    }
  }

  /// True if a commit of the process would be accepted.
  var canWrite: Bool { !state.withLock { $0.isCut || $0.isDying } && lostNames.isEmpty }

  /// True unless another machine has taken over a feed since this one began its run.
  func hasLease(ofFeed feed: Int64) -> Bool { !lostNames.contains("sync-\(feed)") }

  /// The names of the locks that another machine has taken since.
  private var lostNames: Set<String> {
    let (holder, held) = state.withLock { ($0.holder, $0.held) }
    return server.rows.withLock { rows in held.filter { !isOwn(rows[$0], holder) } }
  }

  // MARK: The log

  func beginTurn(after position: LogPosition, within limit: Duration) throws -> any LogTurn {
    try requireLink()
    guard lostNames.isEmpty else {
      throw StorageError(
        .busy, "another machine has taken over the work of this process", advice: "run it again")
    }
    return try server.log.beginTurn(after: position, within: limit)
  }

  func tail(after position: LogPosition) throws -> any LogTail {
    try requireLink()
    return try server.log.tail(after: position)
  }

  // MARK: Locks

  private struct Lock: SharedLock {
    let name: String
    let link: HubLink

    func leave(_ note: SharedNote) { link.leave(note, at: name) }
    func release() { link.release(name) }
  }

  func take(_ name: String) throws -> (any SharedLock)? {
    try requireLink()
    let (holder, now) = (state.withLock(\.holder), server.now)
    let isTaken = server.rows.withLock { rows in
      if let row = rows[name], row.until >= now, row.link != number { return false }
      rows[name] = SimulatedHub.Row(
        link: number, holder: holder, until: .max, note: rows[name]?.note)
      return true
    }
    guard isTaken else { return nil }
    state.withLock { _ = $0.held.insert(name) }
    return Lock(name: name, link: self)
  }

  func timeHeldElsewhere(_ name: String) throws -> Duration? {
    try requireLink()
    let now = server.now
    return server.rows.withLock { rows in
      guard let row = rows[name], row.until >= now, row.link != number else { return nil }
      return .milliseconds(min(row.until - now, SimulatedHub.patience))
    }
  }

  private func release(_ name: String) {
    let (holder, isMute) = state.withLock { state in
      state.held.remove(name)
      return (state.holder, state.isCut || state.isDying)
    }
    if isMute { return }
    server.rows.withLock { rows in
      if isOwn(rows[name], holder) { rows[name]?.until = -1 }
    }
  }

  // MARK: Notes and turns

  func note(of name: String) -> SharedNote? {
    if !isCut {
      let notes = server.rows.withLock { $0.compactMapValues(\.note) }
      state.withLock { $0.notes = notes }
    }
    return state.withLock { $0.notes[name] }
  }

  private func leave(_ note: SharedNote, at name: String) {
    let isMute = state.withLock { state in
      state.notes[name] = note
      return state.isCut || state.isDying
    }
    if !isMute { server.rows.withLock { $0[name]?.note = note } }
  }

  func reserveTurn(_ name: String, spacing: Duration) throws -> Duration {
    try requireLink()
    let (now, milliseconds) = (server.now, Int(spacing / .milliseconds(1)))
    return server.rows.withLock { rows in
      let start = max(rows[name]?.until ?? now, now)
      rows[name] = SimulatedHub.Row(link: -1, holder: -1, until: start + milliseconds)
      return .milliseconds(start - now)
    }
  }
}
