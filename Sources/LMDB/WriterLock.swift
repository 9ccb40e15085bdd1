import Synchronization
import SystemSupport

/// The lock under which one process at a time writes.
///
/// LMDB has a writer lock of its own, which is taken after this one; but it waits without a
/// deadline, does not say who holds it, and is not fair: a process that commits chunk after chunk
/// kept another waiting for 5.7 s. So two files stand before it, each under `flock`:
///
///     writer.turn   held while waiting: its holder is next
///     writer.lock   held while writing; contains "pid\tcommand\n" of the last holder
///
/// To write, take `turn`, then `lock`, then release `turn`. A waiter holds `turn`, so that a holder
/// that has committed cannot overtake it: processes alternate.
final class WriterLock: Sendable {
  private let folder: String
  private let turn: FileLock
  private let lock: FileLock
  /// A second open of `writer.turn`. `flock` belongs to the open file, so that a probe through
  /// `turn` would take or drop the turn of a thread that waits.
  private let probe: FileLock
  private let isHeld = Atomic<Bool>(false)

  /// Opens the files and takes no lock.
  init(folder: String) throws(StorageError) {
    func open(_ name: String) throws(StorageError) -> FileLock {
      let path = folder + "/" + name
      do {
        return try FileLock(path)
      } catch {
        throw .system(
          error.number, "the writer lock cannot be opened", context: [("path", path)])
      }
    }
    self.folder = folder
    turn = try open("writer.turn")
    lock = try open("writer.lock")
    probe = try open("writer.turn")
  }

  /// Waits for the turn and the lock, together at most `limit`.
  ///
  /// - Throws: `.busy` with the holder's pid and command line.
  func acquire(within limit: Duration) throws(StorageError) {
    let deadline = ContinuousClock.now + limit
    try wait(for: turn, until: deadline)
    defer { turn.release() }
    try wait(for: lock, until: deadline)
    isHeld.store(true, ordering: .releasing)
    lock.sign()
  }

  func release() {
    isHeld.store(false, ordering: .releasing)
    lock.release()
  }

  /// True while a process waits for this one, that is, holds the turn.
  var anotherProcessWaits: Bool {
    guard isHeld.load(ordering: .acquiring) else { return false }
    return (try? probe.isHeld()) ?? false
  }

  private func wait(
    for file: FileLock, until deadline: ContinuousClock.Instant
  ) throws(StorageError) {
    let isTaken: Bool
    do {
      isTaken = try file.take(until: deadline)
    } catch {
      throw .system(error.number, "the writer lock cannot be taken", context: [("path", folder)])
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
