import Glibc
import SystemSupport

/// The checks of a store's files by means of the file system, before LMDB uses them.
enum StoreFiles {
  /// The identity of the folder itself, independent of its path.
  struct Identity: Hashable, Sendable {
    let device: UInt
    let inode: UInt
  }

  static func dataFile(_ folder: String) -> String { folder + "/data.mdb" }
  static func lockFile(_ folder: String) -> String { folder + "/lock.mdb" }

  /// Creates the folder with its parents, mode 0700, if it is missing and `create` is true.
  static func prepareFolder(_ folder: String, create: Bool) throws(StorageError) {
    let context = [("path", folder)]
    var status = stat()
    if stat(folder, &status) != 0 {
      guard errno == ENOENT, create else {
        throw .system(errno, "the folder of the store cannot be read", context: context)
      }
      if let failure = FolderFile.makeFolders(folder) {
        throw .system(
          failure.error, "the folder of the store cannot be created",
          context: [("path", failure.path)])
      }
    } else if status.st_mode & S_IFMT != S_IFDIR {
      throw .system(ENOTDIR, "the path is not a folder", context: context)
    }
  }

  static func identity(ofFolder folder: String) throws(StorageError) -> Identity {
    var status = stat()
    guard stat(folder, &status) == 0 else {
      throw .system(errno, "the folder of the store cannot be read", context: [("path", folder)])
    }
    return Identity(device: UInt(status.st_dev), inode: UInt(status.st_ino))
  }

  /// Makes the names of new files in the folder durable, and its own; LMDB flushes only the
  /// content of files.
  static func flushNames(_ folder: String) throws(StorageError) {
    do {
      try FolderFile.flushFolders(folder)
    } catch {
      throw .system(
        error, "the folder of the store cannot be flushed", context: [("path", folder)])
    }
  }

  /// Prepares the two files that LMDB opens by their paths: refuses those that must not be used
  /// (see `FolderFile`), and a data file whose use in a map would raise a signal. Creates the
  /// missing lock file, and with `create` the missing data file, both empty.
  ///
  /// Only the owner of the folder could replace them between this check and LMDB's opening.
  static func prepareFiles(folder: String, create: Bool) throws(StorageError) {
    try prepareDataFile(dataFile(folder), create: create)
    try prepareLockFile(lockFile(folder))
  }

  private static func prepareDataFile(_ path: String, create: Bool) throws(StorageError) {
    let file = try PageSource.open(inFolder: path, create ? .create : .readOnly)
    defer { close(file.descriptor) }
    if create, try file.byteCount() == 0 { return }
    if !create, try file.isUncommitted() {
      throw .system(ENOENT, "the store is empty", context: [("path", path)])
    }
    try file.checkBeforeMapping()
  }

  private static func prepareLockFile(_ path: String) throws(StorageError) {
    do throws(SystemError) {
      do throws(SystemError) {
        try FolderFile.check(path)
      } catch {
        guard error.number == ENOENT else { throw error }
        // Closing it drops no lock of this process, as the file is new.
        close(try FolderFile.open(path, .createNew))
      }
    } catch {
      switch error.number {
      // Another process has created it.
      case EEXIST: return try prepareLockFile(path)
      // LMDB reads without a lock file on a file system that is mounted read-only, and otherwise
      // reports that access is denied.
      case EROFS, EACCES: return
      default: throw .system(error, "the lock file cannot be used", context: [("path", path)])
      }
    }
  }

  /// Empties a data file that a crash during the creation of the store has left with zeros or half
  /// of its first pages. Nothing was ever committed to it.
  ///
  /// - Throws: `.busy` if other processes are opening the store for longer than `limit`.
  static func emptyUncommittedFile(
    folder: String, within limit: Duration
  ) throws(StorageError) {
    guard try isUncommitted(folder) else { return }
    // Another process may be creating the store in this file at the moment.
    guard let gate = try OpeningGate.shut(folder, within: limit) else {
      throw StorageError(
        .busy, "another process is opening the store", context: [("path", folder)],
        advice: "try again")
    }
    defer { gate.release() }
    guard try isUncommitted(folder) else { return }
    let file = try PageSource.open(inFolder: dataFile(folder), .existing)
    defer { close(file.descriptor) }
    guard ftruncate(file.descriptor, 0) == 0, fsync(file.descriptor) == 0 else {
      throw .system(errno, "the data file cannot be emptied", context: [("path", file.path)])
    }
  }

  private static func isUncommitted(_ folder: String) throws(StorageError) -> Bool {
    var status = stat()
    guard lstat(dataFile(folder), &status) == 0, status.st_size > 0 else { return false }
    let file = try PageSource.open(inFolder: dataFile(folder), .readOnly)
    defer { close(file.descriptor) }
    return try file.isUncommitted()
  }

  static func freeBytes(folder: String) -> Int? {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { return nil }
    let free = geteuid() == 0 ? status.f_bfree : status.f_bavail
    return Int(free) * Int(status.f_frsize)
  }

  /// Returns the limit that keeps the data file from growing, as context for an error; nil if there
  /// is none.
  static func exhaustedRoom(folder: String) -> (String, String)? {
    // A transaction that exceeds the room by less than this leaves so little room that the cause is
    // clear. A device that fails is rarely almost full as well.
    let nearlyNothing = 1 << 20
    var limit = rlimit()
    var status = stat()
    if getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0,
      stat(dataFile(folder), &status) == 0, UInt64(limit.rlim_cur) < UInt64(Int64.max),
      UInt64(status.st_size) + UInt64(nearlyNothing) > UInt64(limit.rlim_cur)
    {
      return ("file size limit", String(limit.rlim_cur))
    }
    guard let free = freeBytes(folder: folder), free < nearlyNothing else { return nil }
    return ("free bytes", String(free))
  }
}
