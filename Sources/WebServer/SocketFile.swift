import Glibc
import SystemSupport

/// The socket in the file system at which a server listens.
struct SocketFile: Sendable {
  let descriptor: Int32
  private let path: String
  private let device: dev_t
  private let inode: ino_t

  /// Creates the socket with mode 0600 and listens.
  ///
  /// The socket of a server that has died is replaced. Two servers that start at once do not take
  /// each other for dead, because they lock the folder while they look and listen.
  ///
  /// - Throws: `.alreadyServed`; `.notASocket` for any other kind of file, also for a symbolic
  ///   link; `.cannotListen` if the path is too long or the folder cannot be used.
  static func listen(at path: String) throws(WebServerError) -> SocketFile {
    guard let address = SocketPath(path) else {
      throw WebServerError(.cannotListen, "\(path) is longer than \(SocketPath.bytesMax) bytes")
    }
    let refusal: WebServerError.Code
    do throws(SystemError) {
      let folder = try FileLock(folder: Self.folder(of: path))
      guard try folder.take(until: .now + .seconds(5)) else {
        throw SystemError.refusal("another process holds the lock of the folder")
      }
      let occupant = try occupant(path, address)
      if occupant == .deadServer { guard unlink(path) == 0 else { throw SystemError() } }
      if occupant == .none || occupant == .deadServer { return try SocketFile(path, address) }
      refusal = occupant == .server ? .alreadyServed : .notASocket
    } catch {
      throw WebServerError(.cannotListen, "\(path): \(error.text)")
    }
    throw WebServerError(refusal, path)
  }

  /// The mode is set before the socket has a name, so that nobody else can open it at any moment.
  private init(_ path: String, _ address: SocketPath) throws(SystemError) {
    let descriptor = socket(AF_UNIX, Listener.streams, 0)
    guard descriptor >= 0 else { throw SystemError() }
    var status = stat()
    guard fchmod(descriptor, 0o600) == 0, address.with({ bind(descriptor, $0, $1) }) == 0,
      lstat(path, &status) == 0, Glibc.listen(descriptor, Listener.backlog) == 0
    else {
      let error = SystemError()
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    self.path = path
    (device, inode) = (status.st_dev, status.st_ino)
  }

  /// Removes the file, unless it has been replaced.
  func remove() {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
    unlink(path)
  }

  private enum Occupant { case none, deadServer, server, other }

  private static func occupant(
    _ path: String, _ address: SocketPath
  ) throws(SystemError) -> Occupant {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      guard errno == ENOENT else { throw SystemError() }
      return .none
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else { return .other }
    let client = socket(AF_UNIX, Listener.streams, 0)
    guard client >= 0 else { throw SystemError() }
    defer { close(client) }
    if address.with({ connect(client, $0, $1) }) == 0 { return .server }
    switch errno {
    case ECONNREFUSED: return .deadServer
    case EAGAIN: return .server  // Its queue is full.
    case EPROTOTYPE: return .other
    default: throw SystemError()
    }
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

/// The path of a socket as the system takes it.
struct SocketPath: Sendable {
  private let address: sockaddr_un
  static let bytesMax = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  /// - Returns: Nil if the path is empty or too long, or contains a zero byte.
  init?(_ path: String) {
    let bytes = Array(path.utf8)
    guard (1...Self.bytesMax).contains(bytes.count), !bytes.contains(0) else { return nil }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // SAFETY: the count is less than the size of the field, whose last byte stays zero.
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    self.address = address
  }

  func with<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    // SAFETY: sockaddr_un begins as sockaddr does, and the pointer is used in the closure only.
    withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
