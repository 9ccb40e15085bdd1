import SystemSupport

/// The gate that every opening of a store passes, and that is shut while its data file is replaced.
///
/// LMDB's own locks are not sufficient. A process that waits in `mdb_env_open` for the lock of
/// `lock.mdb` takes the content that it finds afterwards for the work of a living process, and one
/// that opens for reading only has opened `data.mdb` before it waits. The gate keeps processes from
/// being at either place while the file is replaced.
///
/// The gate is `flock` on the folder itself: shared to open the store, exclusive to replace its
/// data file. So it needs no file of its own, and a process that may only read can take it. It is
/// held for the few milliseconds of an opening or a replacement.
enum OpeningGate {
  /// Waits while the data file is being replaced. The caller releases the lock when it has opened
  /// the store.
  ///
  /// - Throws: `.busy` after `limit`; `.permission` for a folder that cannot be read.
  static func enter(
    _ folder: String, within limit: Duration
  ) throws(StorageError) -> FileLock {
    let deadline = ContinuousClock.now + limit
    guard let gate = try lock(folder, .shared, until: deadline) else {
      throw StorageError(
        .busy, "the data file of the store is being replaced", context: [("path", folder)],
        advice: "try again when that is done")
    }
    return gate
  }

  /// Shuts the gate until the lock is released.
  ///
  /// - Returns: `nil` if a process is still opening the store after `limit`.
  static func shut(
    _ folder: String, within limit: Duration = .zero
  ) throws(StorageError) -> FileLock? {
    try lock(folder, .exclusive, until: .now + limit)
  }

  private static func lock(
    _ folder: String, _ mode: FileLock.Mode, until deadline: ContinuousClock.Instant
  ) throws(StorageError) -> FileLock? {
    do throws(SystemError) {
      let gate = try FileLock(folder: folder)
      return try gate.take(.file, mode, until: deadline) ? gate : nil
    } catch {
      throw .system(error, "the folder of the store cannot be read", context: [("path", folder)])
    }
  }
}
