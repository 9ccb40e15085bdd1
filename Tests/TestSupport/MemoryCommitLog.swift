import Dispatch
public import LMDB
import SystemSupport

/// A commit log in memory for the environments of one process. It fails where a test wants it.
public final class MemoryCommitLog: CommitLog {
  /// A step of a commit at which a network or a server fails.
  public enum FailingStep: Sendable, CaseIterable {
    /// Nothing answers when the turn is requested, or the entries without a turn.
    case turn
    /// The connection ends while the missing entries are read.
    case tail
    /// The connection ends when a part is written.
    case part
    /// The log refuses the commit.
    case refusal
    /// The answer is lost before the commit; it is looked up, and the entry is not there.
    case lostBeforeCommit
    /// The answer is lost after the commit; it is looked up, and the entry is there.
    case lostAfterCommit
    /// Nobody answers from before the commit on.
    case silentBeforeCommit
    /// Nobody answers from the commit on.
    case silentAfterCommit
  }

  struct Entry: Sendable {
    let parts: [[UInt8]]
    let chain: UInt128
  }

  struct State: Sendable {
    var entries: [Entry] = []
    var failingStep: FailingStep?
    var afterCommit: (@Sendable () -> Void)?
    var partsWritten = 0
    var partsTakenBack = 0
    var tailsCount = 0
    var hasTurn = false
    var waiters: [DispatchSemaphore] = []
  }

  public let hub: UInt128
  public let machineName = "memory"
  let state = Locked(State())

  public convenience init() {
    var generator = SystemRandomNumberGenerator()
    self.init(hub: UInt128.random(in: 1...UInt128.max, using: &generator), entries: [])
  }

  /// Creates a log that has the entries of these parts.
  public convenience init(hub: UInt128, parts: [LogPart]) {
    var entries: [Entry] = []
    var pending: [[UInt8]] = []
    for part in parts {
      pending.append(part.bytes)
      guard let chain = part.chain else { continue }
      entries.append(Entry(parts: pending, chain: chain))
      pending = []
    }
    self.init(hub: hub, entries: entries)
  }

  init(hub: UInt128, entries: [Entry]) {
    self.hub = hub
    state.withLock { $0.entries = entries }
  }

  /// The next call at this step fails.
  public func fail(at step: FailingStep?) { state.withLock { $0.failingStep = step } }

  /// Calls a closure after each commit, before its writer continues.
  public func afterCommit(_ body: (@Sendable () -> Void)?) {
    state.withLock { $0.afterCommit = body }
  }

  /// The position after the newest entry.
  public var head: LogPosition {
    state.withLock { state in
      LogPosition(
        hub: hub, sequence: UInt64(state.entries.count), chain: state.entries.last?.chain ?? 0)
    }
  }

  /// The parts of all entries.
  public var parts: [LogPart] { parts(after: 0) }

  /// The number of calls of `tail`.
  public var tailsCount: Int { state.withLock { $0.tailsCount } }

  /// The parts that were written to turns and taken back, including those of failed commits.
  public var partCounts: (written: Int, takenBack: Int) {
    state.withLock { ($0.partsWritten, $0.partsTakenBack) }
  }

  /// Returns a log of the entries up to a position; `nil` if this one has no such entry.
  public func prefix(upTo position: LogPosition) -> MemoryCommitLog? {
    guard has(position) else { return nil }
    let entries = state.withLock { Array($0.entries.prefix(Int(position.sequence))) }
    return MemoryCommitLog(hub: hub, entries: entries)
  }

  private func has(_ position: LogPosition) -> Bool {
    state.withLock { state in
      guard position.hub == hub, position.sequence <= state.entries.count else { return false }
      if position.sequence == 0 { return position.chain == 0 }
      return state.entries[Int(position.sequence) - 1].chain == position.chain
    }
  }

  public func beginTurn(after position: LogPosition, within limit: Duration) throws -> any LogTurn {
    try failIf(.turn)
    guard waitForTurn(within: limit) else {
      throw StorageError(.busy, "another writer has the turn", advice: "try again")
    }
    do {
      return MemoryTurn(self, try missing(after: position))
    } catch {
      endTurn()
      throw error
    }
  }

  /// Waits in the order of the calls.
  private func waitForTurn(within limit: Duration) -> Bool {
    let waiter: DispatchSemaphore? = state.withLock { state in
      guard state.hasTurn else {
        state.hasTurn = true
        return nil
      }
      let waiter = DispatchSemaphore(value: 0)
      state.waiters.append(waiter)
      return waiter
    }
    guard let waiter, waiter.wait(timeout: .now() + limit / .seconds(1)) == .timedOut else {
      return true
    }
    return state.withLock { state in
      // If it waits no longer, it got the turn just now.
      guard let place = state.waiters.firstIndex(where: { $0 === waiter }) else { return true }
      state.waiters.remove(at: place)
      return false
    }
  }

  fileprivate func endTurn() {
    state.withLock { state in
      state.hasTurn = !state.waiters.isEmpty
      if state.hasTurn { state.waiters.removeFirst().signal() }
    }
  }

  public func tail(after position: LogPosition) throws -> any LogTail {
    try failIf(.turn)
    state.withLock { $0.tailsCount += 1 }
    return MemoryTail(self, try missing(after: position))
  }

  private func missing(after position: LogPosition) throws -> [LogPart] {
    guard has(position) else {
      throw StorageError(.diverged, "the log has no such entry", advice: "join again")
    }
    return parts(after: position.sequence)
  }

  /// The parts of the entries after one.
  public func parts(after sequence: UInt64) -> [LogPart] {
    let entries = state.withLock { $0.entries }
    return entries.enumerated().dropFirst(Int(sequence)).flatMap { index, entry in
      entry.parts.enumerated().map { number, bytes in
        LogPart(
          sequence: UInt64(index) + 1, bytes: bytes,
          chain: number == entry.parts.count - 1 ? entry.chain : nil)
      }
    }
  }

  fileprivate func isFailing(_ step: FailingStep) -> Bool {
    state.withLock { state in
      guard state.failingStep == step else { return false }
      state.failingStep = nil
      return true
    }
  }

  fileprivate func failIf(_ step: FailingStep) throws {
    if isFailing(step) {
      throw StorageError(.unreachable, "the log does not answer", advice: "try again")
    }
  }
}

private class MemoryTail: LogTail {
  let log: MemoryCommitLog
  private var rest: ArraySlice<LogPart>

  init(_ log: MemoryCommitLog, _ parts: [LogPart]) {
    self.log = log
    rest = parts[...]
  }

  func nextPart() throws -> LogPart? {
    try log.failIf(.tail)
    return rest.popFirst()
  }
}

private final class MemoryTurn: MemoryTail, LogTurn {
  let time = 0.0
  let head: LogPosition
  private var parts: [[UInt8]] = []
  private var isOver = false

  override init(_ log: MemoryCommitLog, _ parts: [LogPart]) {
    head = log.head
    super.init(log, parts)
  }

  deinit { giveUp() }

  func write(_ part: UnsafeRawBufferPointer) throws {
    try log.failIf(.part)
    parts.append(Array(part))
    log.state.withLock { $0.partsWritten += 1 }
  }

  func takeBack(toPart count: Int) throws {
    log.state.withLock { $0.partsTakenBack += parts.count - count }
    parts.removeLast(parts.count - count)
  }

  func commit(_ position: LogPosition) throws -> StorageError? {
    defer { giveUp() }
    if log.isFailing(.refusal) { return refusal }
    try log.failIf(.silentBeforeCommit)
    if log.isFailing(.lostBeforeCommit) { return lookUp(position) }
    let afterCommit = log.state.withLock { state in
      state.entries.append(MemoryCommitLog.Entry(parts: parts, chain: position.chain))
      return state.afterCommit
    }
    afterCommit?()
    try log.failIf(.silentAfterCommit)
    if log.isFailing(.lostAfterCommit) { return lookUp(position) }
    return nil
  }

  /// Looks an entry up whose commit was not answered.
  private func lookUp(_ position: LogPosition) -> StorageError? {
    log.prefix(upTo: position) == nil ? refusal : nil
  }

  private var refusal: StorageError {
    StorageError(.busy, "the turn to write ended before the commit", advice: "try again")
  }

  func giveUp() {
    if isOver { return }
    isOver = true
    log.endTurn()
  }
}
