import EntityStore
import Foundation
import LMDB

/// One run of a batch at a time: a second one of the same name would begin anew as soon as the first
/// has dropped its progress, and change everything twice.
///
/// A kernel lock on one byte of a file in the store's folder, at a hash of the name: the kernel frees
/// it when its holder dies, and no file is left over for each request.
enum BatchLease {
  /// Runs the body while this process has the name.
  ///
  /// - Throws: `storage` with the code `busy` if another run has it.
  static func hold<R>(
    _ name: String, in folder: String, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> R
  ) async throws -> R {
    let descriptor = open(folder + "/batch.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw refusal(.permission, "the lock of batches cannot be opened", systemError: errno)
    }
    defer { close(descriptor) }
    let lock = FileRegionLock(start: Int(ContentHash.of(name) & (.max >> 1)), count: 1)
    guard lock.set(.exclusive, of: descriptor) else {
      if errno == EAGAIN || errno == EACCES { throw busy(name) }
      throw refusal(.other, "the lock of batches cannot be taken", systemError: errno)
    }
    defer { lock.set(.none, of: descriptor) }
    return try await body()
  }

  private static func busy(_ name: String) -> StoreError {
    let error = LMDBError(
      .busy, "the same batch is under way", context: [("batch", name)],
      advice: "try again when it is done")
    return StoreError(.storage, error.summary, underlying: error)
  }

  private static func refusal(
    _ code: LMDBError.Code, _ summary: StaticString, systemError: Int32
  ) -> StoreError {
    let error = LMDBError(
      code, summary, context: [("reason", String(cString: strerror(systemError)))],
      advice: "see to it that the store's folder can be written")
    return StoreError(.storage, summary, underlying: error)
  }
}
