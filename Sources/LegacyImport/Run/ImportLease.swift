import EntityStore
import Glibc
import LMDB

/// The lease of an import, which one run at a time holds: a kernel lock on one byte of a file in
/// the store's folder, at a hash of the name. The kernel releases it when the process ends.
enum ImportLease {
  /// - Throws: `running` if another run has it.
  static func hold<R>(_ name: String, in folder: String, _ body: () throws -> R) throws -> R {
    let descriptor = open(folder + "/import.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw refusal() }
    defer { close(descriptor) }
    let lock = lock(of: name)
    guard lock.set(.exclusive, of: descriptor) else {
      guard errno == EAGAIN || errno == EACCES else { throw refusal() }
      throw ImportError(
        .running, "another run of this import is under way", [("import", name)],
        advice: "try again when it is done")
    }
    defer { lock.set(.none, of: descriptor) }
    return try body()
  }

  /// Returns true if a run is under way. Only asks the kernel: taking the lock for a moment could
  /// make a run fail that starts at the same time.
  static func isHeld(_ name: String, in folder: String) -> Bool {
    let descriptor = open(folder + "/import.lock", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return lock(of: name).isHeld(of: descriptor) ?? false
  }

  private static func lock(of name: String) -> FileRegionLock {
    FileRegionLock(start: Int(ContentHash.of(name) & (.max >> 1)), count: 1)
  }

  private static func refusal() -> ImportError {
    ImportError(
      .unreadable, "the lock of imports cannot be used",
      [("reason", String(cString: strerror(errno)))],
      advice: "see to it that the store's folder can be written")
  }
}
