import EntityStore
import SystemSupport

/// The lease of an import, which one run at a time holds: a kernel lock on one byte of a file in
/// the store's folder, at a hash of the name. The kernel releases it when the process ends.
enum ImportLease {
  /// Runs the body while this process has the name.
  ///
  /// - Throws: `running` if another run has it; `StoreError` with `notPermitted` or `readOnly`.
  static func hold<R>(_ name: String, in store: Store, _ body: () throws -> R) throws -> R {
    guard let lock = try take(name, in: store.folder) else { throw isRunning(name) }
    defer { lock.release(region(name)) }
    guard let shared = try store.takeSharedLock(sharedName(name)) else { throw isRunning(name) }
    defer { shared.release() }
    return try body()
  }

  /// Returns true if a run is under way. Only asks the kernel: taking the lock for a moment could
  /// make a run fail that starts at the same time.
  static func isHeld(_ name: String, in store: Store) -> Bool {
    let file = try? FileLock(path(store.folder), .readOnly)
    if let file, (try? file.isHeld(region(name))) ?? false { return true }
    return (try? store.options.sharedLocks.isHeldElsewhere(sharedName(name))) ?? false
  }

  private static func sharedName(_ name: String) -> String { "import-\(name)" }

  private static func isRunning(_ name: String) -> ImportError {
    ImportError(
      .running, "another run of this import is in progress", [("import", name)],
      advice: "try again when it is done")
  }

  private static func take(_ name: String, in folder: String) throws(StoreError) -> FileLock? {
    do {
      return try FileLock.take(region(name), of: path(folder))
    } catch {
      throw StoreError(
        .refusal(error), "the lock of imports cannot be used", [("reason", error.text)],
        advice: "make sure that the store's folder is writable")
    }
  }

  private static func path(_ folder: String) -> String { folder + "/import.lock" }

  private static func region(_ name: String) -> FileLock.Region {
    .byte(hash: ContentHash.of(name))
  }
}
