import Glibc

/// Reads files that a user names, such as mappings, migrations, seeds and settings: never more than
/// is allowed, whatever the name leads to.
package enum BoundedFile {
  /// Returns the content of a file; of a longer one its first `bytesMax` bytes and one more, which
  /// shows the caller that it is too long.
  ///
  /// The file may be a pipe, such as `<(program)` of a shell.
  package static func read(_ path: String, bytesMax: Int) throws(SystemError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError() }
    defer { close(descriptor) }
    return try read(descriptor, bytesMax: bytesMax)
  }

  /// Reads from a descriptor, which stays open.
  package static func read(_ descriptor: Int32, bytesMax: Int) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count <= bytesMax {
      let room = min(part.count, bytesMax + 1 - bytes.count)
      // SAFETY: the buffer has at least `room` bytes, and the call keeps no pointer to it.
      let count = Glibc.read(descriptor, &part, room)
      if count == 0 { break }
      if count > 0 {
        bytes += part[..<count]
      } else if errno != EINTR {
        throw SystemError()
      }
    }
    return bytes
  }
}
