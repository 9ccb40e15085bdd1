import Synchronization
import SystemSupport

/// The lock by which one process at a time writes.
///
/// LMDB has a writer lock of its own, which is taken after this one. But LMDB waits for it without
/// a deadline, does not report its holder, and is not fair: a process that committed chunk after
/// chunk kept another one waiting for 5.7 s. So two files are locked before it, each with `flock`:
///
///     writer.turn   held while waiting: its holder is next
///     writer.lock   held while writing; contains "pid\tcommand\n" of the last holder
///
/// To write, a process takes `turn`, then `lock`, then releases `turn`. Because a waiter holds
/// `turn`, a holder that has committed cannot overtake it: the processes alternate.
final class WriterLock: Sendable {
  private let folder: String
  private let turn: FileLock
  private let lock: FileLock
  /// A second open file description of `writer.turn`. `flock` belongs to the open file, so a probe
  /// through `turn` would take or drop the turn of a thread that is waiting.
  private let probe: FileLock
  private let isHeld = Atomic<Bool>(false)

  /// Opens the files without taking a lock.
  init(folder: String) throws(StorageError) {
    func open(_ name: String) throws(StorageError) -> FileLock {
      let path = folder + "/" + name
      do {
        return try FileLock(path)
      } catch {
        throw .system(error, "the writer lock cannot be opened", context: [("path", path)])
      }
    }
    self.folder = folder
    turn = try open("writer.turn")
    lock = try open("writer.lock")
    probe = try open("writer.turn")
  }

  /// Waits for the turn and the lock, at most `limit` in total.
  ///
  /// - Parameter isCancelled: Called before each pause; true ends the wait.
  /// - Throws: `.busy` with the process id and command line of the holder, also if the wait was
  ///   cancelled.
  func acquire(
    within limit: Duration, isCancelled: () -> Bool = { false }
  ) throws(StorageError) {
    let deadline = ContinuousClock.now + limit
    try wait(for: turn, until: deadline, intervalMax: 5_000, isCancelled)
    defer { turn.release() }
    // At most one process polls here.
    try wait(for: lock, until: deadline, intervalMax: 1_000, isCancelled)
    isHeld.store(true, ordering: .releasing)
    lock.sign()
  }

  func release() {
    isHeld.store(false, ordering: .releasing)
    lock.release()
  }

  /// True while another process waits for the lock, that is, holds the turn.
  var anotherProcessWaits: Bool {
    guard isHeld.load(ordering: .acquiring) else { return false }
    return (try? probe.isHeld()) ?? false
  }

  private func wait(
    for file: FileLock, until deadline: ContinuousClock.Instant, intervalMax: UInt32,
    _ isCancelled: () -> Bool
  ) throws(StorageError) {
    let isTaken: Bool
    do {
      isTaken = try file.take(
        until: deadline, intervalMax: intervalMax, isCancelled: isCancelled)
    } catch {
      throw .system(error, "the writer lock cannot be taken", context: [("path", folder)])
    }
    guard isTaken else { throw busy }
  }

  private var busy: StorageError {
    var context = [("path", folder)]
    if let holder = lock.lastHolder {
      context += [("pid", holder.pid), ("command", holder.command)]
    }
    return StorageError(
      .busy, "another process is writing to the store", context: context,
      advice: "try again later, or end that process")
  }
}
