import EntityModel
import EntityStore
import Foundation
import LMDB

/// The lease of a runner: its epoch, which is a number that no other runner of the store ever gets, and a
/// kernel lock on the byte with that number of the file `jobs.lock`.
///
/// The kernel releases the lock when the process dies, but not when the process is suspended, so that
/// nothing expires and no clock is involved. One file serves all runners, and testing a lock does not
/// take it. It is a lock of the open file (`F_OFD_SETLK`): `flock` would need a file for each runner,
/// and leave one for each that has died.
final class RunnerLease: Sendable {
  let epoch: Int64
  private let descriptor: Int32

  /// Registers a runner. The lock is taken within the transaction that stores the epoch, so that no
  /// other process sees one without the other.
  ///
  /// - Throws: `busy` if the lock cannot be taken; `StoreError`.
  static func take(
    in store: Store, command: String, kinds: Set<JobKind>
  ) async throws -> RunnerLease {
    let descriptor = open(path(in: store), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw refusal("the lock of the runners cannot be opened") }
    let names = kinds.map(\.rawValue).sorted().joined(separator: ",")
    do {
      let epoch = try await store.write(author: "jobs") { transaction in
        let id = try transaction.insert(
          RunnerRecord.entity,
          [
            "process": .int64(Int64(getpid())), "host": .string(hostName()),
            "command": .string(command), "startedAt": .date(transaction.now),
            "kinds": .string(names),
          ])
        guard lock(id.number).set(.exclusive, of: descriptor) else {
          throw refusal("the lock of a runner cannot be taken")
        }
        return id.number
      }
      return RunnerLease(epoch: epoch, descriptor: descriptor)
    } catch {
      close(descriptor)
      throw error
    }
  }

  private init(epoch: Int64, descriptor: Int32) {
    self.epoch = epoch
    self.descriptor = descriptor
  }

  deinit {
    // A child process has a copy of the descriptor until it executes its program.
    Self.lock(epoch).set(.none, of: descriptor)
    close(descriptor)
  }

  /// True if a process holds the lock of an epoch.
  ///
  /// - Throws: `busy` if the lock cannot be tested.
  static func isAlive(_ epoch: Int64, in store: Store) throws -> Bool {
    // Read-only, so that processes without write permission can test it, too.
    let descriptor = open(path(in: store), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      // Without the file there is no lock: the store was restored or copied.
      if errno == ENOENT { return false }
      throw refusal("the lock of the runners cannot be opened")
    }
    defer { close(descriptor) }
    guard let isHeld = lock(epoch).isHeld(of: descriptor) else {
      throw refusal("the lock of a runner cannot be asked for")
    }
    return isHeld
  }

  private static func path(in store: Store) -> String { store.folder + "/jobs.lock" }

  private static func lock(_ epoch: Int64) -> FileRegionLock {
    FileRegionLock(start: Int(epoch), count: 1)
  }

  private static func hostName() -> String {
    var bytes = [CChar](repeating: 0, count: 256)
    guard gethostname(&bytes, bytes.count - 1) == 0 else { return "unknown" }
    return String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private static func refusal(_ summary: StaticString) -> JobError {
    // SAFETY: strerror returns a NUL-terminated string, which is copied at once.
    let reason = String(cString: strerror(errno))
    return JobError(
      .busy, summary, [("reason", reason)],
      advice: "see to it that the store's folder can be written")
  }
}
