import EntityStore
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
/// without a write to the store. Other machines see the lock `sync-N` and its note instead (see
/// `SharedLocks`).
struct SyncLease: ~Copyable {
  private let file: FileLock
  private let shared: any SharedLock
  /// The run before this one.
  let previous: LastRun?

  /// - Throws: `busy` with the holder's process id if another run has it; `notPermitted` or
  ///   `inputOutput` if the system refuses the lock; `StoreError` with `unreachable`.
  init(feedID: Int64, in store: Store) throws {
    let path = SyncLease.path(feedID: feedID, folder: store.folder)
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
    guard let shared = try store.takeSharedLock(SyncLease.name(feedID)) else {
      throw SyncError(
        .busy, "another machine syncs the feed", advice: "wait for it, or use --wait")
    }
    self.file = file
    self.shared = shared
    let note = store.options.sharedLocks.note(of: SyncLease.name(feedID))
    previous = SyncLease.later(SyncLease.lastRun(file), note)
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
    shared.leave(SharedNote(line, at: date))
    file.setText(Array(line.utf8))
    let seconds = date.timeIntervalSince1970
    let whole = seconds.rounded(.down)
    let time = timespec(
      tv_sec: Int(max(0, whole)), tv_nsec: Int((seconds - whole) * 1_000_000_000) % 1_000_000_000)
    _ = futimens(file.descriptor, [time, time])
  }

  deinit {
    shared.release()
    file.release()
  }

  /// Returns the last run of the feed; nil if there was none. A file that cannot be read counts as
  /// none: a run reports the error when it takes the lease.
  static func lastRun(feedID: Int64, in store: Store) -> LastRun? {
    later(
      (try? FileLock(path(feedID: feedID, folder: store.folder), .readOnly)).flatMap(lastRun),
      store.options.sharedLocks.note(of: name(feedID)))
  }

  /// Returns the start of the last run; nil if there was none. Reads no more than the status of the
  /// file.
  ///
  /// - Parameter hasFile: False if the feed is known to have no file.
  static func lastStart(feedID: Int64, in store: Store, hasFile: Bool) -> Date? {
    let note = store.options.sharedLocks.note(of: name(feedID))?.date
    var status = stat()
    guard hasFile,
      fstatat(AT_FDCWD, path(feedID: feedID, folder: store.folder), &status, AT_SYMLINK_NOFOLLOW)
        == 0,
      status.st_mode & S_IFMT == S_IFREG, status.st_size > 0
    else { return note }
    let start = modificationDate(status)
    return max(start, note ?? start)
  }

  /// Returns the feeds that have a file in the folder; none if it cannot be read, which opening the
  /// store would have refused.
  static func feedsWithFile(in folder: String) -> Set<Int64> {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return Set(names.compactMap(feedID(ofFile:)))
  }

  /// Returns the later one of the last runs on this machine and on any machine.
  private static func later(_ run: LastRun?, _ note: SharedNote?) -> LastRun? {
    guard let note, run.map({ $0.at < note.date }) ?? true else { return run }
    let line = note.text.prefix { $0 != "\n" }
    return LastRun(at: note.date, hasEnded: line.hasSuffix(endMark))
  }

  private static func name(_ feedID: Int64) -> String { "sync-\(feedID)" }

  /// A file without text was created for a run that has not begun yet.
  private static func lastRun(_ file: FileLock) -> LastRun? {
    var status = stat()
    let line = file.text().prefix { $0 != UInt8(ascii: "\n") }
    guard !line.isEmpty, fstat(file.descriptor, &status) == 0 else { return nil }
    return LastRun(
      at: modificationDate(status),
      hasEnded: String(decoding: line, as: UTF8.self).hasSuffix(endMark))
  }

  private static func modificationDate(_ status: stat) -> Date {
    let time = status.st_mtim
    return Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
  }

  private static let endMark = "ended"

  private static func path(feedID: Int64, folder: String) -> String {
    folder + "/" + filePrefix + String(feedID) + fileSuffix
  }

  private static func feedID(ofFile name: String) -> Int64? {
    guard name.hasPrefix(filePrefix), name.hasSuffix(fileSuffix) else { return nil }
    return Int64(name.dropFirst(filePrefix.count).dropLast(fileSuffix.count))
  }

  private static let filePrefix = "sync-"
  private static let fileSuffix = ".lock"
}
