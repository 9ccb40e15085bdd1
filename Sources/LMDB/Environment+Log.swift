import CMooringLMDB
import Glibc
import SystemSupport

/// The writing of a store whose commits are ordered by a log.
///
/// A commit takes the turn of the log, then the writer lock, applies the entries that the store
/// lacks, runs the caller's changes, and appends them to the log. From then on they are durable,
/// whatever happens here: LMDB's commit follows without its second flush, and if it is lost, the
/// entry is applied again from the log.
///
/// The turn comes first in every process. A process that only follows takes the lock alone. So no
/// two processes wait for each other.
extension Environment {
  /// The longest wait for the writer lock with the turn. A process that was stopped with the lock
  /// must not keep all machines from writing.
  private static let lockWaitMax = Duration.seconds(1)
  /// The longest wait for an entry that the log has and that could not be committed here.
  private static let laterMax = Duration.seconds(2)
  private static let laterPause: UInt32 = 50_000
  /// The size of the entries that `catchUp` applies in one transaction, beside the first one. A
  /// small entry is to be visible before a large one after it is applied, but need not wait for
  /// the commit of a large one before it.
  private static let laterBytesMax = 1 << 20

  /// The position of the store in its log; `nil` if it has none.
  ///
  /// - Throws: `StorageError` with `.damaged`.
  public func logPosition(in transaction: TreeTransaction) throws -> LogPosition? {
    guard let tree = try tree(named: PositionTree.name, in: transaction),
      let bytes = try transaction.get(tree, PositionTree.positionKey)
    else { return nil }
    guard let position = PositionTree.decode(bytes) else {
      throw StorageError(
        .damaged, "the position in the commit log is unreadable", context: [("path", folder)],
        advice: "join the store to its hub again")
    }
    return position
  }

  /// Applies the entries of the log that the store lacks, at least up to the newest one of now.
  /// Called like `write`; without a log it does nothing.
  ///
  /// - Returns: True if there were any.
  /// - Throws: `StorageError` with `.unreachable`, `.diverged`, `.busy`; `.damaged` if an entry is
  ///   unreadable or does not fit; the errors of a commit. Entries before the failure may be in the
  ///   store.
  @discardableResult
  public func catchUp() throws -> Bool {
    guard let log = options.commitLog else { return false }
    let tail = try log.tail(after: try read { try logPosition(of: log, in: $0) })
    guard var part = try tail.nextPart() else { return false }
    while true {
      let next = try asOnlyWriter { writerLock in
        try writerLock.acquire(within: options.writerDeadline)
        defer { writerLock.release() }
        return try preparedForWriting { try follow(log, part, tail) }
      }
      guard let next else { return true }
      part = next
    }
  }

  /// Applies entries in one transaction.
  ///
  /// - Returns: The first part of the entries that are left; `nil` at the end of the tail.
  private func follow(
    _ log: any CommitLog, _ first: LogPart, _ tail: any LogTail
  ) throws -> LogPart? {
    try removeDropped()
    let transaction = try beginWrite()
    var next: LogPart?
    do {
      let before = try logPosition(of: log, in: transaction)
      var entries = EntryApplier(to: transaction, after: before)
      try entries.apply(first)
      next = try tail.nextPart()
      while let part = next,
        !entries.isBetweenEntries
          || entries.laterByteCount + part.bytes.count <= Self.laterBytesMax
      {
        try entries.apply(part)
        next = try tail.nextPart()
      }
      try put(try entries.end(), in: transaction)
    } catch {
      mdb_txn_abort(transaction.end())
      throw error
    }
    let committed = commitAsLogged(transaction)
    guard committed == MDB_SUCCESS else { throw failure(committed, doing: "commit") }
    return next
  }

  func write<R>(
    in log: any CommitLog, _ writerLock: WriterLock, _ body: (TreeWriter) throws -> R
  ) throws -> R {
    let turn = try beginTurn(of: log, holding: writerLock)
    defer { turn.giveUp() }
    defer { writerLock.release() }
    return try preparedForWriting { try write(in: turn, of: log, body) }
  }

  private func beginTurn(
    of log: any CommitLog, holding writerLock: WriterLock
  ) throws -> any LogTurn {
    let deadline = ContinuousClock.now + options.writerDeadline
    while true {
      let position = try read { try logPosition(of: log, in: $0) }
      let turn = try log.beginTurn(
        after: position, within: max(.zero, deadline - ContinuousClock.now))
      do {
        let rest = max(.zero, deadline - ContinuousClock.now)
        try writerLock.acquire(within: min(Self.lockWaitMax, rest))
        return turn
      } catch {
        turn.giveUp()
        guard error.code == .busy, ContinuousClock.now < deadline else { throw error }
      }
    }
  }

  private func write<R>(
    in turn: any LogTurn, of log: any CommitLog, _ body: (TreeWriter) throws -> R
  ) throws -> R {
    try removeDropped()
    var transaction = try beginWrite()
    let value: R
    let isLogged: Bool
    do {
      let before = try logPosition(of: log, in: transaction)
      let position = try applyTail(of: turn, before, in: transaction)
      if !transaction.droppedTrees.isEmpty {
        // Their names go with a commit. The caller must not find trees that are gone elsewhere.
        try put(position, in: transaction)
        let committed = commitAsLogged(transaction)
        guard committed == MDB_SUCCESS else { throw failure(committed, doing: "commit") }
        try removeDropped()
        transaction = try beginWrite()
      }
      let recorder = OperationRecorder(turn, after: position.chain)
      transaction.recorder = recorder
      value = try body(transaction)
      transaction.recorder = nil
      isLogged = !recorder.isEmpty
      if isLogged {
        try append(recorder, to: turn, after: position, in: transaction)
      } else {
        turn.giveUp()
        if position != before { try put(position, in: transaction) }
      }
    } catch {
      if transaction.handle != nil { mdb_txn_abort(transaction.end()) }
      throw error
    }
    // The log has the entry: nothing that can fail may be done before the commit.
    let committed = commitAsLogged(transaction)
    if committed == MDB_SUCCESS { return value }
    let failure = self.failure(committed, doing: "commit")
    guard isLogged else { throw failure }
    let head = turn.head.sequence + 1
    turn.giveUp()
    try applyLater(upTo: head, of: log, creating: transaction.createdTrees, failure)
    return value
  }

  /// Applies an entry of this process from the log, after its commit here has failed.
  ///
  /// - Parameter created: The handles that the failed transaction has given to its new trees. Its
  ///   caller may have kept them.
  /// - Throws: `StorageError` with `.notHereYet` if it fails for some time.
  private func applyLater(
    upTo sequence: UInt64, of log: any CommitLog, creating created: [String: MDB_dbi],
    _ failure: StorageError
  ) throws {
    let deadline = ContinuousClock.now + min(Self.laterMax, options.writerDeadline)
    var cause = "\(failure.summary)"
    while true {
      do {
        let position = try read { try logPosition(of: log, in: $0) }
        if position.sequence >= sequence {
          if created.allSatisfy({ trees.handle(named: $0.key) == $0.value }) { return }
          break
        }
        let tail = try log.tail(after: position)
        var next = try tail.nextPart()
        while let part = next { next = try follow(log, part, tail) }
        continue
      } catch {
        cause = (error as? StorageError).map { "\($0.summary)" } ?? "\(error)"
      }
      guard ContinuousClock.now < deadline else { break }
      usleep(Self.laterPause)
    }
    throw StorageError(
      .notHereYet, "the changes are stored in the commit log, and not visible here yet",
      context: [("path", folder), ("cause", cause)],
      advice: "do not repeat them; they appear when the store can be written again")
  }

  /// Applies the entries that the store lacks.
  ///
  /// - Returns: The position after them.
  private func applyTail(
    of turn: any LogTurn, _ position: LogPosition, in transaction: TreeWriter
  ) throws -> LogPosition {
    var entries = EntryApplier(to: transaction, after: position)
    while let part = try turn.nextPart() { try entries.apply(part) }
    let position = try entries.end()
    if position == turn.head { return position }
    guard position.sequence < turn.head.sequence else { throw diverged }
    throw StorageError(
      .unreachable, "the commit log did not return its newest entries",
      context: [("path", folder)], advice: "try again")
  }

  /// Appends the entry and the position after it, the entry in the log and the position here.
  private func append(
    _ recorder: OperationRecorder, to turn: any LogTurn, after position: LogPosition,
    in transaction: TreeWriter
  ) throws {
    var position = position
    position.chain = try recorder.finish()
    position.sequence += 1
    do {
      try put(position, in: transaction)
    } catch {
      // LMDB refuses it after a failure that spoils the transaction, which the caller may have
      // caught.
      throw transaction.firstFailure ?? error
    }
    try checkHeadroom(for: recorder, in: transaction)
    let refusal: StorageError?
    do {
      refusal = try turn.commit(position)
    } catch {
      throw StorageError(
        .unknownOutcome, "it is not known whether the commit log has the changes",
        context: [("path", folder), ("cause", "\(error)")],
        advice: "look whether they are in the store before they are repeated")
    }
    if let refusal { throw refusal }
  }

  /// Commits without the flush of the meta page: a loss of power undoes the commit, and then it
  /// comes again from the log. After a failure the environment can be used.
  private func commitAsLogged(_ transaction: TreeWriter) -> Int32 {
    transaction.flush = .pagesOnly
    let result = commit(transaction)
    if result != MDB_SUCCESS { _ = mooring_env_forget_failure(raw) }
    return result
  }

  // MARK: The position

  /// Returns the position of the store in this log: the beginning, for a store without trees.
  private func logPosition(
    of log: any CommitLog, in transaction: TreeTransaction
  ) throws -> LogPosition {
    if let position = try logPosition(in: transaction) {
      guard position.hub == log.hub else { throw diverged }
      return position
    }
    guard try treeNames(in: transaction).isEmpty else { throw diverged }
    return LogPosition(hub: log.hub)
  }

  /// Stores the position, and the names of the trees that the commit drops.
  func put(_ position: LogPosition, in transaction: TreeWriter) throws {
    let tree = try createTree(named: PositionTree.name, in: transaction)
    try transaction.put(
      tree, key: PositionTree.positionKey, value: PositionTree.encode(position))
    guard !transaction.droppedTrees.isEmpty else { return }
    let names = transaction.droppedTrees.sorted().joined(separator: "\0")
    try transaction.put(tree, key: PositionTree.droppedKey, value: Array(names.utf8))
  }

  /// Removes the names of trees that an earlier commit has dropped, if that could not remove them.
  func removeDropped() throws {
    let names = try read { transaction -> [String] in
      guard let tree = try tree(named: PositionTree.name, in: transaction),
        let bytes = try transaction.get(tree, PositionTree.droppedKey)
      else { return [] }
      return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }
    let result = trees.removeEmptied(Set(names), in: self)
    guard result == MDB_SUCCESS else { throw failure(result, doing: "removal of trees") }
  }

  /// Throws if the store has a position in a log, which a commit without the log would belie.
  func checkHasNoLog(in transaction: TreeWriter) throws {
    guard trees.handle(named: PositionTree.name) != nil,
      try exists(PositionTree.name, in: transaction)
    else { return }
    throw StorageError(
      .needsCommitLog, "several machines write to the store, and its commit log was not given",
      context: [("path", folder)], advice: "name the hub of the store")
  }

  private var diverged: StorageError {
    StorageError(
      .diverged, "the store has other commits than its log", context: [("path", folder)],
      advice: "keep a copy of the store, and join it to its hub again")
  }

  // MARK: Headroom

  /// Checks that LMDB can commit: the map and the device have room for the pages that it may still
  /// need. Called before the log commits.
  private func checkHeadroom(for recorder: OperationRecorder, in transaction: TreeWriter) throws {
    let information = try information()
    // An operation changes a leaf, and the branches above it are shared. A value that is replaced
    // may need pages of its own.
    let changed = min(2 * recorder.count, information.pagesUsed)
    let pages = changed + 2 * recorder.byteCount / information.pageSize + Self.pagesOfCommit
    if let free = freeBytesOfVolume, free < pages * information.pageSize {
      throw StorageError(
        .diskFull, "the device has no room for the commit",
        context: [("path", folder), ("free bytes", String(free))],
        advice: "make room; nothing was changed")
    }
    let room = information.mapSize / information.pageSize - information.pagesUsed
    if pages > room { try reserve(Self.pagesOfCommit + pages / 512, in: transaction) }
  }

  /// The pages of the tree of trees and of the free list, which LMDB writes when it commits. An
  /// entry of the free list lists 512 pages on one.
  private static let pagesOfCommit = 16

  /// Throws `.mapFull` unless so many adjacent pages can be had. The transaction does not keep
  /// them.
  private func reserve(_ pages: Int, in transaction: TreeWriter) throws {
    struct Done: Error {}
    do {
      try transaction.nested { transaction in
        let tree = try createTree(named: PositionTree.name, in: transaction)
        try transaction.put(
          tree, key: [0], value: [UInt8](repeating: 0, count: pages * information().pageSize))
        throw Done()
      }
    } catch is Done {}
  }
}
