import Glibc
import LMDB

/// The lock that allows one worker for each store: a kernel lock on the file `worker.lock`, which the
/// kernel releases when its holder dies.
final class WorkerLock: Sendable {
  private static let lock = FileRegionLock(count: 1)
  private let descriptor: Int32

  /// - Throws: `WorkerError` with the code `busy` and the holder's process id.
  init(ofStore folder: String) throws {
    let path = folder + "/worker.lock"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      // SAFETY: strerror returns a NUL-terminated string, which is copied at once.
      let reason = String(cString: strerror(errno))
      throw WorkerError(
        .notPermitted, "the lock of the worker cannot be opened",
        [("file", path), ("reason", reason)],
        advice: "see to it that the store's folder can be written")
    }
    guard Self.lock.set(.exclusive, of: descriptor) else {
      let holder = Self.holder(in: descriptor)
      close(descriptor)
      throw WorkerError(
        .busy, "another worker serves this store",
        [("store", folder)] + (holder.map { [("process", $0)] } ?? []),
        advice: "one worker for each store is enough: raise its --concurrency")
    }
    self.descriptor = descriptor
    // The process id for the message above, because the lock of an open file names no process. A failure
    // does no harm.
    let text = Array("\(getpid())\n".utf8)
    _ = ftruncate(descriptor, 0)
    _ = pwrite(descriptor, text, text.count, 0)
  }

  deinit {
    // A child process has a copy of the descriptor until it executes its program.
    Self.lock.set(.none, of: descriptor)
    close(descriptor)
  }

  private static func holder(in descriptor: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: 20)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).filter(\.isNumber)
    return text.isEmpty ? nil : text
  }
}
