import Glibc

/// The gate through which every opening of a store goes, and which is shut while its data file is
/// replaced.
///
/// LMDB's own locks do not suffice for that. A process that waits in `mdb_env_open` for the lock of
/// `lock.mdb` takes what it finds there afterwards for the work of a living process, and one that
/// opens for reading only has opened `data.mdb` before it waits. Behind the gate nobody is at
/// either place while the file is replaced.
///
/// It is `flock` on the folder itself: shared by those who open, exclusive for who replaces. Those
/// who may only read can take it, no file stands for it, and the kernel opens it when a process
/// dies. It is held for the few milliseconds of an opening or a replacement.
struct OpeningGate {
  private let descriptor: Int32

  /// Goes in to open the store. Waits while its data file is being replaced.
  ///
  /// - Throws: `.busy` after `limit`; `.permission` for a folder that cannot be read.
  static func enter(
    _ folder: String, within limit: Duration
  ) throws(LMDBError) -> OpeningGate {
    let deadline = ContinuousClock.now + limit
    while true {
      if let gate = try lock(folder, LOCK_SH) { return gate }
      guard ContinuousClock.now < deadline else { throw beingReplaced(folder) }
      usleep(1_000)
    }
  }

  /// Shuts the gate, or answers nil if somebody is in it just now.
  static func shut(_ folder: String) throws(LMDBError) -> OpeningGate? {
    try lock(folder, LOCK_EX)
  }

  func leave() {
    // A process that is being started has a copy of the descriptor until it executes its program:
    // closing this one would leave the lock with it.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  private static func lock(
    _ folder: String, _ kind: Int32
  ) throws(LMDBError) -> OpeningGate? {
    let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw .system(errno, "the folder of the store cannot be read", context: [("path", folder)])
    }
    while flock(descriptor, kind | LOCK_NB) != 0 {
      let number = errno
      if number == EINTR { continue }
      close(descriptor)
      if number == EWOULDBLOCK { return nil }
      throw .system(number, "the folder of the store cannot be locked", context: [("path", folder)])
    }
    return OpeningGate(descriptor: descriptor)
  }

  private static func beingReplaced(_ folder: String) -> LMDBError {
    LMDBError(
      .busy, "the data file of the store is being replaced", context: [("path", folder)],
      advice: "try again when that is done")
  }
}
