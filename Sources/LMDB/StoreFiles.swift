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

  /// Creates the folder with its parents, mode 0700, if it is missing and `create` is true.
  ///
  /// - Returns: true if there is no data file yet.
  static func prepareFolder(_ folder: String, create: Bool) throws(StorageError) -> Bool {
    let context = [("path", folder)]
    var status = stat()
    if stat(folder, &status) != 0 {
      guard errno == ENOENT, create else {
        throw .system(errno, "the folder of the store cannot be read", context: context)
      }
      try makeFolder(folder)
    } else if status.st_mode & S_IFMT != S_IFDIR {
      throw .system(ENOTDIR, "the path is not a folder", context: context)
    }
    return stat(dataFile(folder), &status) != 0
  }

  private static func makeFolder(_ folder: String) throws(StorageError) {
    var path = folder.hasPrefix("/") ? "" : "."
    for name in folder.split(separator: "/") {
      path += "/" + name
      guard mkdir(path, 0o700) == 0 || errno == EEXIST || errno == EISDIR else {
        throw .system(errno, "the folder of the store cannot be created", context: [("path", path)])
      }
    }
  }

  static func identity(ofFolder folder: String) throws(StorageError) -> Identity {
    var status = stat()
    guard stat(folder, &status) == 0 else {
      throw .system(errno, "the folder of the store cannot be read", context: [("path", folder)])
    }
    return Identity(device: UInt(status.st_dev), inode: UInt(status.st_ino))
  }

  /// Makes the names of new files in the folder durable; LMDB flushes only their content.
  static func flushFolder(_ folder: String) {
    let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  /// Refuses a data file whose use in a map would raise a signal.
  static func checkDataFile(folder: String, create: Bool) throws(StorageError) {
    let path = dataFile(folder)
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT, create { return }
      throw .system(errno, "the data file of the store cannot be read", context: [("path", path)])
    }
    defer { close(descriptor) }
    let file = PageSource(descriptor: descriptor, path: path)
    // A crash before the first commit leaves an empty file, which LMDB fills.
    if try file.byteCount() == 0 {
      guard create else {
        throw .system(ENOENT, "the store is empty", context: [("path", path)])
      }
      return
    }
    try file.checkBeforeMapping()
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
