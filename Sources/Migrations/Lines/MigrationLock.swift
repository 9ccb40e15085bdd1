import EntityStore
import Glibc
import SystemSupport

/// The lock on the file `migrate.lock`, under which one process at a time changes the schema of a
/// store: a migration, or a load, which sets indexes aside. The file contains `pid\tcommand\n` of
/// the last holder.
final class MigrationLock {
  private static let region = FileLock.Region.bytes(from: 0, count: 0)
  /// The interval at which another machine's lock is tried.
  private static let sharedInterval: UInt32 = 100_000
  private let file: FileLock
  /// The lock `migrate` of all machines (see `SharedLocks`).
  private let shared: any SharedLock

  /// Takes the lock.
  ///
  /// - Parameter limit: The longest time to wait for another holder.
  /// - Parameter isCancelled: Called while waiting; `true` ends the wait.
  /// - Throws: `busy` with the holder; `readOnly`, `notPermitted`; `unreachable`.
  init(
    of store: Store, within limit: Duration, isCancelled: () -> Bool = { false }
  ) throws(StoreError) {
    let path = store.folder + "/migrate.lock"
    let deadline = ContinuousClock.now + limit
    let isTaken: Bool
    do throws(SystemError) {
      file = try FileLock(path)
      isTaken = try file.take(Self.region, until: deadline, isCancelled: isCancelled)
    } catch {
      throw Self.refusal(path, error)
    }
    guard isTaken else { throw Self.busy(by: Self.name(file.lastHolder)) }
    file.sign()
    shared = try Self.takeShared(of: store, until: deadline, isCancelled)
  }

  deinit { shared.release() }

  private static func takeShared(
    of store: Store, until deadline: ContinuousClock.Instant, _ isCancelled: () -> Bool
  ) throws(StoreError) -> any SharedLock {
    do {
      while true {
        if let lock = try store.takeSharedLock("migrate") { return lock }
        guard ContinuousClock.now < deadline, !isCancelled() else { break }
        usleep(sharedInterval)
      }
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.storage, "the lock of migrations cannot be taken", [("cause", "\(error)")])
    }
    throw busy(by: "another machine")
  }

  /// Returns the process that holds the lock; `nil` if none does. Does not take the lock.
  static func holder(in folder: String) -> String? {
    guard let file = try? FileLock(folder + "/migrate.lock", .readOnly),
      (try? file.isHeld(region)) == true
    else { return nil }
    return name(file.lastHolder)
  }

  private static func name(_ holder: LockHolder?) -> String {
    holder.map { "process \($0.pid), \($0.command)" } ?? "another process"
  }

  /// Returns the error for an operation that cannot continue before the holder has finished.
  static func busy(by holder: String) -> StoreError {
    StoreError(
      .busy, "a migration or a load is in progress", [("by", holder)],
      advice: "wait for it, or end that process: the next run continues from there")
  }

  private static func refusal(_ path: String, _ error: SystemError) -> StoreError {
    StoreError(
      .refusal(error), "the lock of migrations cannot be taken",
      [("path", path), ("reason", error.text)],
      advice: "make sure that the store's folder is writable")
  }
}
