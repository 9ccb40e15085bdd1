import Foundation
import LMDB

/// One run of a batch at a time: a second one of the same name would begin anew as soon as the first
/// has dropped its progress, and change everything twice.
///
/// A kernel lock on one byte of a file in the store's folder, at a hash of the name: the kernel frees
/// it when its holder dies, and no file is left over for each request.
enum BatchLease {
  /// `F_OFD_SETLK` of <fcntl.h>, which Swift's module of glibc does not show.
  private static let setLockOfOpenFile: Int32 = 37

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
    var range = flock()
    range.l_type = Int16(F_WRLCK)
    range.l_whence = Int16(SEEK_SET)
    range.l_start = Int(ContentHash.of(name) & (.max >> 1))
    range.l_len = 1
    // Of the open file, not of the process: so that two runs of one process exclude each other, too.
    guard fcntl(descriptor, setLockOfOpenFile, &range) == 0 else {
      if errno == EAGAIN || errno == EACCES { throw busy(name) }
      throw refusal(.other, "the lock of batches cannot be taken", systemError: errno)
    }
    // A process that is being started has a copy of the descriptor until it executes its program:
    // to close this one would leave the lock with it.
    defer {
      range.l_type = Int16(F_UNLCK)
      _ = fcntl(descriptor, setLockOfOpenFile, &range)
    }
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
