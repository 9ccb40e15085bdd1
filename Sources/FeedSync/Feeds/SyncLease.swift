public import Foundation
import SystemSupport

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
  private let file: FileLock
  /// The run before this one.
  let previous: LastRun?

  /// - Throws: `busy` with the holder's process id if another run has it; `notPermitted` or
  ///   `inputOutput` if the system refuses the lock.
  init(feedID: Int64, folder: String) throws(SyncError) {
    let path = SyncLease.path(feedID: feedID, folder: folder)
    let file: FileLock
    let isTaken: Bool
    do throws(SystemError) {
      file = try FileLock(path)
      isTaken = try file.take()
    } catch {
      throw SyncLease.unusable(path, error)
    }
    guard isTaken else {
      throw SyncError(
        .busy, "the feed is being synced already",
        [("process", file.lastHolder?.pid ?? "")], advice: "wait for it, or use --wait")
    }
    self.file = file
    previous = SyncLease.lastRun(file)
  }

  private static func unusable(_ path: String, _ error: SystemError) -> SyncError {
    let isDenied = error.isPermissionDenied
    return SyncError(
      isDenied ? .notPermitted : .inputOutput, "the lock of the feed cannot be used",
      [("file", path), ("reason", error.text)],
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
    file.setText(Array(line.utf8))
    let seconds = date.timeIntervalSince1970
    let whole = seconds.rounded(.down)
    let time = timespec(
      tv_sec: Int(max(0, whole)), tv_nsec: Int((seconds - whole) * 1_000_000_000) % 1_000_000_000)
    _ = futimens(file.descriptor, [time, time])
  }

  deinit { file.release() }

  /// Returns the last run of the feed; nil if there was none. A file that cannot be read counts as
  /// none: a run reports the error when it takes the lease.
  static func lastRun(feedID: Int64, folder: String) -> LastRun? {
    (try? FileLock(path(feedID: feedID, folder: folder), .readOnly)).flatMap(lastRun)
  }

  /// A file without text was created for a run that has not begun yet.
  private static func lastRun(_ file: FileLock) -> LastRun? {
    var status = stat()
    let line = file.text().prefix { $0 != UInt8(ascii: "\n") }
    guard !line.isEmpty, fstat(file.descriptor, &status) == 0 else { return nil }
    let time = status.st_mtim
    return LastRun(
      at: Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9),
      hasEnded: String(decoding: line, as: UTF8.self).hasSuffix(endMark))
  }

  private static let endMark = "ended"

  private static func path(feedID: Int64, folder: String) -> String {
    folder + "/sync-\(feedID).lock"
  }
}
