import Foundation

/// One run per feed: a kernel lock on a file of the store's folder.
///
/// The kernel frees it when its holder dies, so nothing has to expire. The file's time of change
/// says when the feed was last asked, without a write to the store.
struct SyncLease: ~Copyable {
  private let descriptor: Int32

  /// - Throws: `busy` with the holder's process id if another run has it.
  init(feedID: Int64, folder: String) throws {
    let path = SyncLease.path(feedID: feedID, folder: folder)
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw SyncError(
        .busy, "the lock of the feed cannot be opened",
        [("file", path), ("reason", String(cString: strerror(errno)))])
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      var bytes = [UInt8](repeating: 0, count: 20)
      let count = pread(descriptor, &bytes, bytes.count, 0)
      close(descriptor)
      let holder = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        .filter(\.isNumber)
      throw SyncError(
        .busy, "the feed is being synced already", [("process", holder)],
        advice: "wait for it, or use --wait")
    }
    self.descriptor = descriptor
    // For the message above only, so a failure does no harm.
    let text = Array("\(getpid())\n".utf8)
    _ = ftruncate(descriptor, 0)
    _ = pwrite(descriptor, text, text.count, 0)
  }

  deinit {
    // A process that is being started has a copy of the descriptor until it executes its program:
    // to close this one would leave the lock with it.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// When a run of this feed last began.
  static func lastRun(feedID: Int64, folder: String) -> Date? {
    var status = stat()
    guard stat(path(feedID: feedID, folder: folder), &status) == 0 else { return nil }
    return Date(timeIntervalSince1970: Double(status.st_mtim.tv_sec))
  }

  private static func path(feedID: Int64, folder: String) -> String {
    folder + "/sync-\(feedID).lock"
  }
}
