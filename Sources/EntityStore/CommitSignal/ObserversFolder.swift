import Glibc
import SystemSupport

/// The folder `observers` of a store: one socket for each process that observes it.
///
/// It exists only while there are observers, so that a writer without observers pays for one system
/// call. Every call is relative to a descriptor of the store's folder: the path may be longer than
/// the 108 bytes of a socket's address, and the process may change its working directory.
///
/// No method throws. An observer that is not notified polls every two seconds, so that a socket
/// that cannot be bound or reached delays observers, and never makes a commit fail.
final class ObserversFolder: Sendable {
  /// The descriptor of the store's folder; negative if it cannot be opened: then all methods have
  /// no effect.
  private let store: Int32
  private static let name = "observers"

  init(ofStore folder: String) {
    store = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  }

  deinit {
    if store >= 0 { close(store) }
  }

  // MARK: The side of the observer

  /// Binds a socket with this name, and creates the folder if it is missing.
  ///
  /// - Returns: A descriptor that does not block; `nil` if the system refuses.
  func bindSocket(named name: String) -> Int32? {
    let descriptor = socket(AF_UNIX, Self.datagrams, 0)
    guard descriptor >= 0 else { return nil }
    // Another process may remove the folder between the two calls, as its last observer.
    for _ in 0..<StoreLimits.socketBindingsMax {
      let isBound = create { folder in
        guard withAddress(of: name, in: folder, { bind(descriptor, $0, $1) }) == 0 else {
          return false
        }
        giveToOwner(name, in: folder)
        return true
      }
      if isBound == true { return descriptor }
      guard errno == ENOENT else { break }
    }
    close(descriptor)
    return nil
  }

  func holdsSocket(named name: String) -> Bool {
    inFolder { Self.exists(name, in: $0) } ?? false
  }

  /// Removes a socket, and the folder if it was the last one.
  func removeSocket(named name: String) {
    _ = inFolder { unlinkat($0, name, 0) }
    unlinkat(store, Self.name, AT_REMOVEDIR)
  }

  /// Gives a new socket to the owner of the folder, whose processes could not send to it otherwise.
  private func giveToOwner(_ name: String, in folder: Int32) {
    var status = stat()
    guard fstat(folder, &status) == 0, status.st_uid != geteuid() else { return }
    _ = fchownat(folder, name, status.st_uid, status.st_gid, AT_SYMLINK_NOFOLLOW)
  }

  // MARK: The side of the writer

  /// Sends one byte to every socket but `own`, and removes those that no process has open.
  ///
  /// Never waits: an observer whose queue is full has a byte to read already.
  ///
  /// - Complexity: one system call if there are no observers, else twelve and one for each
  ///   observer.
  func notify(exceptFor own: String?) {
    guard Self.exists(Self.name, in: store) else { return }
    _ = inFolder { notify(exceptFor: own, in: $0) }
  }

  private func notify(exceptFor own: String?, in folder: Int32) {
    let names = Self.socketNames(in: folder).filter { $0 != own }
    guard !names.isEmpty else { return }
    let sender = socket(AF_UNIX, Self.datagrams, 0)
    guard sender >= 0 else { return }
    defer { close(sender) }
    for name in names {
      var byte: UInt8 = 0
      let sent = withAddress(of: name, in: folder) {
        sendto(sender, &byte, 1, Int32(MSG_DONTWAIT | MSG_NOSIGNAL), $0, $1)
      }
      // The process has died: a name is never bound twice.
      if sent < 0, errno == ECONNREFUSED { removeSocket(named: name) }
    }
  }

  /// Returns the sockets in the folder, in the order of the file system.
  private static func socketNames(in folder: Int32) -> [String] {
    let descriptor = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    guard let listing = fdopendir(descriptor) else {
      close(descriptor)
      return []
    }
    defer { closedir(listing) }
    var names: [String] = []
    while names.count < StoreLimits.observersNotifiedMax, let entry = readdir(listing) {
      // No symbolic links: one might lead to another program's socket. On a file system that does
      // not report types, observers rely on polling.
      guard Int(entry.pointee.d_type) == Int(DT_SOCK) else { continue }
      // SAFETY: the name ends with a zero byte within the entry. The entry itself may be shorter
      // than `dirent`, so that it is not copied.
      let name = UnsafeRawPointer(entry) + Self.nameOffset
      names.append(String(cString: name.assumingMemoryBound(to: CChar.self)))
    }
    return names
  }

  // MARK: Paths and addresses

  /// The path of the folder, based on the descriptor of the store's folder.
  private var path: String { "/proc/self/fd/\(store)/\(Self.name)" }

  private func create<R>(_ body: (Int32) -> R) -> R? {
    do throws(SystemError) {
      try FolderFile.makeFolder(path)
    } catch {
      errno = error.number
      return nil
    }
    return inFolder(body)
  }

  /// Calls the closure with a descriptor of the folder.
  ///
  /// - Returns: `nil`, with `errno`, if there is none, or one that must not be used: a symbolic
  ///   link, or the folder of another user, would lead to other programs' sockets.
  private func inFolder<R>(_ body: (Int32) -> R) -> R? {
    do throws(SystemError) {
      let folder = try FolderFile.openFolder(path)
      // `close` succeeds, and so leaves `errno` as the closure has set it.
      defer { close(folder) }
      return body(folder)
    } catch {
      errno = error.number
      return nil
    }
  }

  private static func exists(_ path: String, in folder: Int32) -> Bool {
    var status = stat()
    return fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0
  }

  /// Calls the closure with the address of a socket in the folder, based on the descriptor.
  private func withAddress<R>(
    of name: String, in folder: Int32, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
  ) -> R {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = "/proc/self/fd/\(folder)/\(name)"
    withUnsafeMutableBytes(of: &address.sun_path) { room in
      // The last byte stays zero. A name that does not fit is not one of this program.
      room.copyBytes(from: path.utf8.prefix(room.count - 1))
    }
    return withUnsafePointer(to: &address) { pointer in
      // SAFETY: every address begins as `sockaddr` does, and the length covers all of it.
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  private static let datagrams =
    Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
  private static let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
}
