import EntityModel
import EntityStore
import Foundation
import SystemSupport

/// The lease of a runner: its epoch, which is a number that no other runner of the store ever gets,
/// and a kernel lock on the byte with that number of the file `jobs.lock`.
///
/// The kernel releases the lock when the process dies, but not when the process is suspended, so
/// that nothing expires and no clock is involved. One file serves all runners, and testing a lock
/// does not take it. It is a lock of the open file (`F_OFD_SETLK`): `flock` would need a file for
/// each runner, and leave one for each that has died.
///
/// Other machines see the lock `runner-N` instead (see `SharedLocks`).
final class RunnerLease: Sendable {
  let epoch: Int64
  private let lock: FileLock
  private let shared: any SharedLock

  /// Registers a runner. The lock is taken within the transaction that stores the epoch, so that no
  /// other process sees one without the other.
  ///
  /// - Throws: `StoreError`, with `busy`, `notPermitted` or `readOnly` if the lock cannot be taken.
  static func take(
    in store: Store, command: String, kinds: Set<JobKind>
  ) async throws -> RunnerLease {
    let names = kinds.map(\.rawValue).sorted().joined(separator: ",")
    return try await store.write(author: "jobs") { transaction in
      let id = try transaction.insert(
        RunnerRecord.entity,
        [
          "process": .int64(Int64(getpid())), "host": .string(hostName()),
          "command": .string(command), "startedAt": .date(transaction.now),
          "kinds": .string(names),
        ])
      let lock = try lock(id.number, in: store)
      guard let shared = try store.options.sharedLocks.take(sharedName(id.number)) else {
        throw isTaken(id.number)
      }
      return RunnerLease(epoch: id.number, lock: lock, shared: shared)
    }
  }

  private init(epoch: Int64, lock: FileLock, shared: any SharedLock) {
    self.epoch = epoch
    self.lock = lock
    self.shared = shared
  }

  deinit { shared.release() }

  private static func sharedName(_ epoch: Int64) -> String { "runner-\(epoch)" }

  /// True while a process holds the lock of an epoch.
  ///
  /// - Throws: The errors of `life`.
  static func isAlive(_ epoch: Int64, in store: Store) throws -> Bool {
    try life(of: epoch, in: store) != nil
  }

  /// Returns the time after which it is to be asked again whether a process holds the lock of an
  /// epoch; `nil` if none does. A process of this machine may end at any time. The lock of another
  /// machine does not end before its time, which a living one prolongs.
  ///
  /// - Throws: `notPermitted`, `readOnly` if the lock file cannot be used; `busy` for an error that
  ///   passes; `unreachable` if it is not known whether another machine has it.
  static func life(of epoch: Int64, in store: Store) throws -> Duration? {
    if try isHeldHere(epoch, in: store) { return Limits.runnersInterval }
    return try translatingStorageErrors {
      try store.options.sharedLocks.timeHeldElsewhere(sharedName(epoch)).map {
        max($0, Limits.runnersInterval)
      }
    }
  }

  private static func isHeldHere(_ epoch: Int64, in store: Store) throws(StoreError) -> Bool {
    do {
      // For reading only: a process that may not write can ask, too.
      return try FileLock(path(in: store), .readOnly).isHeld(region(epoch))
    } catch {
      // Without the file no process has a lock on it: a store that was restored, or copied.
      if error.number == ENOENT { return false }
      throw refusal("the lock of a runner cannot be tested", error)
    }
  }

  private static func lock(_ epoch: Int64, in store: Store) throws(StoreError) -> FileLock {
    do throws(SystemError) {
      if let lock = try FileLock.take(region(epoch), of: path(in: store)) { return lock }
    } catch {
      throw refusal("the lock of a runner cannot be taken", error)
    }
    throw isTaken(epoch)
  }

  private static func isTaken(_ epoch: Int64) -> StoreError {
    StoreError(
      .busy, "the lock of a runner is taken", [("runner", String(epoch))], advice: "try again")
  }

  private static func path(in store: Store) -> String { store.folder + "/jobs.lock" }

  private static func region(_ epoch: Int64) -> FileLock.Region {
    .bytes(from: Int(epoch), count: 1)
  }

  private static func hostName() -> String {
    var bytes = [CChar](repeating: 0, count: 256)
    guard gethostname(&bytes, bytes.count - 1) == 0 else { return "unknown" }
    return String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private static func refusal(_ summary: StaticString, _ error: SystemError) -> StoreError {
    // Other errors, such as a lack of descriptors, pass.
    let isRefused = error.isPermissionDenied || error.number == EROFS
    return StoreError(
      isRefused ? .refusal(error) : .busy, summary, [("reason", error.text)],
      advice: "make sure that the store's folder is writable")
  }
}
