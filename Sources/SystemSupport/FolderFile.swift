import Glibc

/// The one way to open and create the files of a store's folder.
///
/// A program of the administrator may work on the folder of a service, and that service may put
/// anything there. So no symbolic link is followed, and a file is used only if it is a regular one
/// that belongs to the owner of the folder and has no name outside of it: otherwise a write would
/// change a file of somebody else. For the same reason a new file gets the owner of the folder,
/// who could not use it otherwise. The folder itself may be reached through links.
package enum FolderFile {
  package enum Opening: Sendable {
    /// For reading only.
    case readOnly
    /// For reading and writing.
    case existing
    /// For reading and writing; created with mode 0600 if it is missing.
    case create
    /// Like `create`, but fails with `EEXIST` if the file exists.
    case createNew
  }

  /// Opens a file. The caller closes the descriptor.
  ///
  /// - Throws: The error of the system; `EPERM` with a reason for a file that must not be used.
  package static func open(_ path: String, _ opening: Opening) throws(SystemError) -> Int32 {
    let owner = try Owner(ofParentOf: path)
    while true {
      if opening != .createNew {
        // A pipe would make the call wait without O_NONBLOCK, which a file ignores.
        let access = opening == .readOnly ? O_RDONLY : O_RDWR
        let descriptor = Glibc.open(path, access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if descriptor >= 0 {
          try closingOnFailure(descriptor) { () throws(SystemError) in
            try check(try status(of: descriptor), path, owner)
          }
          return descriptor
        }
        if errno == ELOOP { throw isLink }
        if errno == ENXIO || errno == EISDIR { throw isNoFile }
        guard errno == ENOENT, opening == .create else { throw SystemError() }
      }
      do throws(SystemError) {
        return try create(path, owner)
      } catch {
        // Another process has created it.
        guard error.number == EEXIST, opening == .create else { throw error }
      }
    }
  }

  /// Replaces the content of a file, or creates it with mode 0600. After a kill at any moment it is
  /// the old file or the new one.
  package static func replace(_ path: String, with bytes: [UInt8]) throws(SystemError) {
    let descriptor = try open(path + ".new", .create)
    defer { close(descriptor) }
    guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, bytes, bytes.count, 0) == bytes.count,
      fsync(descriptor) == 0, rename(path + ".new", path) == 0
    else { throw SystemError() }
    try flushFolder(parent(of: path))
  }

  /// Checks a file without opening it. Closing a descriptor of LMDB's lock file would drop the
  /// locks that this process has on it.
  ///
  /// - Throws: The errors of `open`; `ENOENT` if the file is missing.
  package static func check(_ path: String) throws(SystemError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw SystemError() }
    try check(status, path, try Owner(ofParentOf: path))
  }

  // MARK: Folders

  /// The user that a folder must belong to.
  package enum FolderOwner: Sendable {
    /// The owner of the folder around it, who also gets a new one.
    case ofParent
    /// The user of this process.
    case user
  }

  /// Opens a folder without following a symbolic link. The caller closes the descriptor.
  ///
  /// - Throws: The error of the system; `EPERM` with a reason for a folder that must not be used.
  package static func openFolder(
    _ path: String, ownedBy owner: FolderOwner = .ofParent
  ) throws(SystemError) -> Int32 {
    let expected = owner == .user ? geteuid() : try Owner(ofParentOf: path).user
    let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      // With O_DIRECTORY the system reports a link in this way, too.
      throw errno == ENOTDIR || errno == ELOOP ? isNoFolder : SystemError()
    }
    try closingOnFailure(descriptor) { () throws(SystemError) in
      let found = try status(of: descriptor).st_uid
      if found != expected { throw belongs(to: found, not: expected) }
    }
    return descriptor
  }

  /// Creates a folder, mode 0700, that may exist.
  package static func makeFolder(
    _ path: String, ownedBy owner: FolderOwner = .ofParent
  ) throws(SystemError) {
    let parent = try Owner(ofParentOf: path)
    if owner == .user || parent.user == geteuid() {
      guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError() }
      return
    }
    var status = stat()
    if lstat(path, &status) == 0 { return }
    // It gets its name after its owner: a kill must leave nothing that the owner cannot use.
    let made = temporaryName(path)
    guard mkdir(made, 0o700) == 0 else { throw SystemError() }
    do throws(SystemError) {
      let descriptor = Glibc.open(made, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else { throw SystemError() }
      defer { close(descriptor) }
      try parent.adopt(descriptor)
      guard rename(made, path) == 0 else { throw SystemError() }
    } catch {
      rmdir(made)
      // Another process has made it.
      if error.number != ENOTEMPTY, error.number != EEXIST { throw error }
    }
  }

  /// Creates the missing folders of a path, mode 0700. Their names are not durable yet.
  ///
  /// - Returns: The folder that could not be created, and why; `nil` if all exist.
  package static func makeFolders(_ path: String) -> (path: String, error: SystemError)? {
    var folder = path.hasPrefix("/") ? "" : "."
    for name in path.split(separator: "/") {
      folder += "/" + name
      if mkdir(folder, 0o700) != 0, errno != EEXIST, errno != EISDIR {
        return (folder, SystemError())
      }
    }
    return nil
  }

  /// Makes the names in a folder durable, and its own name and those of the folders around it,
  /// which another process may have created a moment ago.
  package static func flushFolders(_ path: String) throws(SystemError) {
    var folder = path
    while true {
      try flushFolder(folder)
      let outer = parent(of: folder)
      if outer == folder { return }
      folder = outer
    }
  }

  /// Makes the names in a folder durable; flushing a file covers only its content.
  package static func flushFolder(_ path: String) throws(SystemError) {
    let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder that may be written to but not listed cannot be opened, and so not flushed.
    guard descriptor >= 0 else { if errno == EACCES { return } else { throw SystemError() } }
    defer { close(descriptor) }
    // Some file systems cannot flush a folder.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw SystemError() }
  }

  // MARK: Owner and kind

  private struct Owner {
    let user: uid_t
    let group: gid_t

    init(ofParentOf path: String) throws(SystemError) {
      var status = stat()
      guard stat(parent(of: path), &status) == 0 else { throw SystemError() }
      user = status.st_uid
      group = status.st_gid
    }

    /// Makes this user the owner of a new file or folder. Some file systems have done that already.
    ///
    /// - Throws: `EPERM` with a reason.
    func adopt(_ descriptor: Int32) throws(SystemError) {
      let maker = try status(of: descriptor).st_uid
      guard maker != user, fchown(descriptor, user, group) != 0 else { return }
      throw SystemError.refusal("the folder belongs to user \(user), this is user \(maker)")
    }
  }

  /// Returns a name that a file or folder has until it has its owner.
  private static func temporaryName(_ path: String) -> String {
    path + ".new-" + String(UInt64.random(in: .min ... .max), radix: 36)
  }

  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func create(_ path: String, _ owner: Owner) throws(SystemError) -> Int32 {
    // It gets its name after its owner: a kill must leave nothing that the owner cannot use.
    let isForeign = owner.user != geteuid()
    let made = isForeign ? temporaryName(path) : path
    let descriptor = Glibc.open(
      made, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemError() }
    guard isForeign else { return descriptor }
    defer { unlink(made) }
    try closingOnFailure(descriptor) { () throws(SystemError) in
      try owner.adopt(descriptor)
      guard link(made, path) == 0 else { throw SystemError() }
    }
    return descriptor
  }

  private static func check(
    _ status: stat, _ path: String, _ owner: Owner
  ) throws(SystemError) {
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFLNK: throw isLink
    default: throw isNoFile
    }
    guard status.st_uid == owner.user else { throw belongs(to: status.st_uid, not: owner.user) }
    let links = Int(status.st_nlink)
    // A restore that keeps the replaced file gives it a second name in the folder for a moment.
    if links > 1, names(of: status.st_ino, in: parent(of: path)) < links {
      throw SystemError.refusal("the file has a name outside of the folder, as a hard link")
    }
  }

  /// Returns how many names a file has in a folder; 0 if the folder cannot be read.
  private static func names(of inode: ino_t, in folder: String) -> Int {
    guard let listing = opendir(folder) else { return 0 }
    defer { closedir(listing) }
    var count = 0
    while let entry = readdir(listing) { if entry.pointee.d_ino == inode { count += 1 } }
    return count
  }

  private static func status(of descriptor: Int32) throws(SystemError) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemError() }
    return status
  }

  private static func closingOnFailure(
    _ descriptor: Int32, _ body: () throws(SystemError) -> Void
  ) throws(SystemError) {
    do throws(SystemError) {
      try body()
    } catch {
      close(descriptor)
      throw error
    }
  }

  private static let isLink = SystemError.refusal("it is a symbolic link")
  private static let isNoFile = SystemError.refusal("it is not a regular file")
  private static let isNoFolder = SystemError.refusal("it is not a folder")

  private static func belongs(to user: uid_t, not owner: uid_t) -> SystemError {
    .refusal("it belongs to user \(user), and should belong to user \(owner)")
  }
}
