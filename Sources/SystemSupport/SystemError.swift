import Glibc

/// A refusal of the operating system: an `errno` without words for people. The caller knows what it
/// was doing, and makes its own error of it.
package struct SystemError: Error, Hashable, Sendable {
  package let number: Int32

  /// - Parameter number: An `errno`; the thread's own without it.
  package init(_ number: Int32 = errno) { self.number = number }

  /// The system's text, such as "No such file or directory".
  package var text: String {
    // SAFETY: strerror returns a NUL-terminated string, which is copied at once.
    String(cString: strerror(number))
  }

  package var isPermissionDenied: Bool { number == EACCES || number == EPERM }
}
