import EntityStore
import SystemSupport

/// The lease that a run of a batch holds. Without it, a second run of the same name would start
/// from the beginning as soon as the first has deleted its progress, and make every change twice.
///
/// The lease is a lock on one byte of a file in the store's folder, at a hash of the name, so that
/// requests leave no files of their own.
enum BatchLease {
  /// Runs the body while this process holds the lease for the name.
  ///
  /// - Throws: `busy` if another run holds it; `readOnly`, `notPermitted`.
  static func hold<R>(
    _ name: String, in store: Store, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> R
  ) async throws -> R {
    let region = FileLock.Region.byte(hash: ContentHash.of(name))
    guard let lock = try take(region, in: store.folder) else { throw isRunning(name) }
    defer { lock.release(region) }
    guard let shared = try store.takeSharedLock("batch-\(name)") else { throw isRunning(name) }
    defer { shared.release() }
    return try await body()
  }

  private static func isRunning(_ name: String) -> StoreError {
    StoreError(
      .busy, "the same batch is running", [("batch", name)], advice: "try again when it is done")
  }

  private static func take(
    _ region: FileLock.Region, in folder: String
  ) throws(StoreError) -> FileLock? {
    do {
      return try FileLock.take(region, of: folder + "/batch.lock")
    } catch {
      throw StoreError(
        .refusal(error), "the lock of batches cannot be taken", [("reason", error.text)],
        advice: "make sure that the store's folder is writable")
    }
  }
}
