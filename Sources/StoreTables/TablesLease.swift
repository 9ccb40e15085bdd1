package import EntityStore
package import Foundation
import SystemSupport

/// The right to write the tables of a hub, which one process of all machines has. A process that
/// dies loses it; a machine that dies, 15 seconds later.
///
/// Two that write nevertheless, because one was cut off for longer, do no harm: the lock of the
/// position orders them.
package final class TablesLease: Sendable {
  private static let name = "tables"
  private let file: FileLock
  private let shared: any SharedLock
  private let locks: any SharedLocks

  /// Takes the lease without waiting.
  ///
  /// - Throws: `TablesError` with `.elsewhere` and who has it; `StoreError`; `StorageError`.
  package init(of store: Store, machine: String, now: Date) throws {
    let path = store.folder + "/tables.lock"
    let isTaken: Bool
    do throws(SystemError) {
      file = try FileLock(path)
      isTaken = try file.take()
    } catch {
      throw StorageError.system(
        error, "the lock of the tables cannot be taken", context: [("path", path)])
    }
    guard isTaken else {
      throw Self.busy(by: file.lastHolder.map { "process \($0.pid), \($0.command)" })
    }
    file.sign()
    locks = store.options.sharedLocks
    guard let shared = try locks.take(Self.name) else {
      throw Self.busy(by: locks.note(of: Self.name)?.text)
    }
    shared.leave(SharedNote(machine, at: now))
    self.shared = shared
  }

  deinit { shared.release() }

  /// Checks that no other machine has taken the lease over since.
  ///
  /// - Throws: `TablesError` with `.elsewhere`; `StorageError` with `.unreachable`.
  package func check() throws {
    if try locks.isHeldElsewhere(Self.name) { throw Self.busy(by: locks.note(of: Self.name)?.text) }
  }

  package func release() {
    shared.release()
    file.release()
  }

  private static func busy(by holder: String?) -> TablesError {
    TablesError(
      .elsewhere, "the tables are written elsewhere", [("by", holder ?? "another machine")],
      advice: "one process of all machines writes them; this one can take over when that one ends")
  }
}
