import Glibc
import SystemSupport

/// The folder of a store that no process has open, and that none can open while this value is
/// valid.
///
/// It is valid within the body of `Environment.whileClosed` only, which must not open the store.
public struct ClosedStore {
  public let folder: String
  fileprivate let lockFile: LockFile

  /// Returns the identity of the data file and the number of its last commit; nil if there is no
  /// data file.
  public func mark() throws -> DataFile.Mark? {
    try DataFile.mark(of: StoreFiles.dataFile(folder))
  }

  /// Replaces the data file by another file. If the process is killed at any moment, the store is
  /// either the old file or the new one, complete. When this returns, the replacement also survives
  /// a power failure.
  ///
  /// The file gets owner, group and mode of the one that it replaces.
  ///
  /// - Parameter path: a data file on the same file system that has been flushed. It is moved.
  /// - Parameter kept: a second name for the replaced file, in the same folder; nil removes the
  ///   file.
  /// - Throws: `.permission`, `.diskFull`, `.inputOutput`, `.other`; the store is unchanged then.
  public func replaceData(with path: String, keepingAs kept: String?) throws {
    let data = StoreFiles.dataFile(folder)
    try adoptOwner(path, of: data)
    if let kept, link(data, kept) != 0 {
      throw StorageError.system(
        errno, "the replaced data file cannot be saved", context: [("path", kept)])
    }
    do {
      // Before the rename, because a process that finds the new file must not find the old table.
      // The old file does not need the table, as no process has it open.
      try lockFile.empty()
      guard rename(path, data) == 0 else {
        throw StorageError.system(
          errno, "the data file cannot be replaced", context: [("path", data)])
      }
    } catch {
      if let kept { unlink(kept) }
      throw error
    }
    try StoreFiles.flushNames(folder)
  }

  private func adoptOwner(_ path: String, of data: String) throws(StorageError) {
    var old = stat()
    var new = stat()
    let isFirst = lstat(data, &old) != 0 || old.st_mode & S_IFMT != S_IFREG
    // The first data file of a folder gets the owner of the folder.
    if isFirst, stat(folder, &old) != 0 { return }
    guard lstat(path, &new) == 0 else {
      throw .system(errno, "the new data file cannot be read", context: [("path", path)])
    }
    if old.st_uid != new.st_uid || old.st_gid != new.st_gid,
      lchown(path, old.st_uid, old.st_gid) != 0, old.st_uid != new.st_uid
    {
      throw .system(
        errno, "the new data file cannot be given to the owner of the store",
        context: [("path", data)])
    }
    guard isFirst || chmod(path, old.st_mode & 0o777) == 0 else {
      throw .system(errno, "the mode of the new data file cannot be set", context: [("path", data)])
    }
  }
}

extension Environment {
  /// Runs `body` while no process has the store of a folder open. Processes that open it wait, so
  /// `body` must be short.
  ///
  /// - Parameter folder: an existing folder; it need not contain a store.
  /// - Parameter limit: the longest wait for processes that have the store open.
  /// - Throws: the errors of `body`; `.busy`, with the process that has the store open;
  ///   `.permission`.
  public static func whileClosed<R>(
    _ folder: String, within limit: Duration, _ body: (ClosedStore) throws -> R
  ) throws -> R {
    let identity = try StoreFiles.identity(ofFolder: folder)
    let deadline = ContinuousClock.now + limit
    while true {
      let attempt: Attempt<R>? = try OpenEnvironments.whileNotOpen(identity) {
        try holdingAll(of: folder, body)
      }
      switch attempt ?? .busy(openHere(folder)) {
      case .done(let result): return result
      case .busy(let error):
        guard ContinuousClock.now < deadline else { throw error }
        usleep(5_000)
      }
    }
  }

  private enum Attempt<R> {
    case done(R)
    case busy(StorageError)
  }

  private static func holdingAll<R>(
    of folder: String, _ body: (ClosedStore) throws -> R
  ) throws -> Attempt<R> {
    guard let gate = try OpeningGate.shut(folder) else { return .busy(beingOpened(folder)) }
    defer { gate.release() }
    // A writer also holds the lock file. Its own lock is tried first, because it shows which of the
    // processes that have the store open is writing, and because it still holds where other code of
    // a process has closed the lock file and so dropped LMDB's locks.
    let writer = try WriterLock(folder: folder)
    let lockFile: LockFile
    do throws(StorageError) {
      try writer.acquire(within: .zero)
      do throws(StorageError) {
        lockFile = try LockFile.hold(in: folder)
      } catch {
        writer.release()
        throw error
      }
    } catch {
      guard error.code == .busy else { throw error }
      return .busy(error)
    }
    defer {
      lockFile.release()
      writer.release()
    }
    return .done(try body(ClosedStore(folder: folder, lockFile: lockFile)))
  }

  private static func openHere(_ folder: String) -> StorageError {
    StorageError(
      .busy, "this process has the store open", context: [("path", folder)],
      advice: "release it first")
  }

  private static func beingOpened(_ folder: String) -> StorageError {
    StorageError(
      .busy, "another process is opening the store", context: [("path", folder)],
      advice: "try again")
  }
}
