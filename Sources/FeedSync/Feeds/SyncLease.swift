public import Foundation

/// The start and state of a feed's last run, in any process.
public struct LastRun: Sendable, Equatable {
  /// The time of its start.
  public var at: Date
  /// True if it ended without failure.
  public var hasEnded: Bool

  public init(at: Date, hasEnded: Bool) {
    self.at = at
    self.hasEnded = hasEnded
  }
}

/// The lease of a run on its feed: a kernel lock on a file in the store's folder.
///
/// The kernel releases it when the process ends, so it never expires. The file's modification time
/// is the start of the last run, and its text the process id and whether the run has ended: known
/// without a write to the store.
struct SyncLease: ~Copyable {
  private let descriptor: Int32
  /// The run before this one.
  let previous: LastRun?

  /// - Throws: `busy` with the holder's process id if another run has it; `notPermitted` or
  ///   `inputOutput` if the file cannot be used.
  init(feedID: Int64, folder: String) throws {
    let path = SyncLease.path(feedID: feedID, folder: folder)
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SyncLease.unusable(path, errno) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      guard code == EWOULDBLOCK else {
        close(descriptor)
        throw SyncLease.unusable(path, code)
      }
      let holder = SyncLease.text(of: descriptor).prefix { $0.isNumber }
      close(descriptor)
      throw SyncError(
        .busy, "the feed is being synced already", [("process", String(holder))],
        advice: "wait for it, or use --wait")
    }
    self.descriptor = descriptor
    previous = SyncLease.lastRun(descriptor)
  }

  private static func unusable(_ path: String, _ code: Int32) -> SyncError {
    let isDenied = code == EACCES || code == EPERM
    return SyncError(
      isDenied ? .notPermitted : .inputOutput, "the lock of the feed cannot be used",
      [("file", path), ("reason", String(cString: strerror(code)))],
      advice: isDenied
        ? "run it as the owner of the store"
        : "check that the file can be written and the disk is not full")
  }

  /// Records the start of the run.
  func begin(at date: Date) { write("\(getpid())\n", date) }

  /// Records that the run has ended.
  func end(begunAt date: Date) { write("\(getpid()) \(SyncLease.endMark)\n", date) }

  /// Writes the file. After a failure the feed is only requested again sooner.
  private func write(_ line: String, _ date: Date) {
    let text = Array(line.utf8)
    _ = ftruncate(descriptor, 0)
    _ = pwrite(descriptor, text, text.count, 0)
    let seconds = date.timeIntervalSince1970
    let whole = seconds.rounded(.down)
    let time = timespec(
      tv_sec: Int(max(0, whole)), tv_nsec: Int((seconds - whole) * 1_000_000_000) % 1_000_000_000)
    _ = futimens(descriptor, [time, time])
  }

  deinit {
    // A process that is being started has a copy of the descriptor until it executes its program:
    // only closing this one would leave the lock with that process.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Returns the last run of the feed; nil if there was none.
  static func lastRun(feedID: Int64, folder: String) -> LastRun? {
    let descriptor = open(path(feedID: feedID, folder: folder), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return lastRun(descriptor)
  }

  /// Reads the file. One without text was created for a run that has not started yet.
  private static func lastRun(_ descriptor: Int32) -> LastRun? {
    var status = stat()
    let text = text(of: descriptor)
    guard !text.isEmpty, fstat(descriptor, &status) == 0 else { return nil }
    let time = status.st_mtim
    return LastRun(
      at: Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9),
      hasEnded: text.contains(endMark))
  }

  private static func text(of descriptor: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 40)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  private static let endMark = "ended"

  private static func path(feedID: Int64, folder: String) -> String {
    folder + "/sync-\(feedID).lock"
  }
}
