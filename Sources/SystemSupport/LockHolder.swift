import Glibc

/// The process that holds a lock, for error messages.
package struct LockHolder: Hashable, Sendable {
  /// The process id in decimal digits.
  package let pid: String
  /// The command line, printable characters only; empty if it is not known.
  package let command: String

  /// Reads the first line of a lock file: `pid`, or `pid\tcommand`.
  ///
  /// - Returns: `nil` for a text that does not begin with a process id: the file may contain
  ///   anything.
  package init?(text: [UInt8]) {
    let line = text.prefix { $0 != UInt8(ascii: "\n") }
    let digits = line.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    let rest = line[digits.endIndex...]
    guard (1...10).contains(digits.count),
      rest.isEmpty || rest.first == UInt8(ascii: "\t") || rest.first == UInt8(ascii: " ")
    else { return nil }
    pid = String(decoding: digits, as: UTF8.self)
    command = rest.first == UInt8(ascii: "\t") ? Self.printable(rest.dropFirst()) : ""
  }

  /// Reads the command line of a process that is running.
  package init(process: Int32) {
    pid = String(process)
    guard let file = try? FileLock("/proc/\(process)/cmdline", .readOnly) else {
      command = ""
      return
    }
    let words = file.text().split(separator: 0).joined(separator: [UInt8(ascii: " ")])
    command = Self.printable(words)
  }

  /// The text of this process, `pid\tcommand\n`.
  fileprivate static let own: [UInt8] = {
    let words = CommandLine.arguments.joined(separator: " ").utf8
      .map { $0 < 0x20 ? UInt8(ascii: " ") : $0 }
    let line = "\(getpid())\t".utf8 + words
    return Array(line.prefix(bytesMax - 1)) + [UInt8(ascii: "\n")]
  }()

  private static let bytesMax = 512

  private static func printable(_ bytes: some Sequence<UInt8>) -> String {
    let scalars = String(decoding: Array(bytes), as: UTF8.self).unicodeScalars
      .filter { $0.value >= 0x20 && $0.value != 0x7f }
    return String(String.UnicodeScalarView(scalars))
  }
}

extension FileLock {
  /// The process named in the text of the file: the last one that took the lock.
  package var lastHolder: LockHolder? { LockHolder(text: text()) }

  /// Writes this process to the file as `pid\tcommand\n`, unless the file names it already.
  package func sign() {
    if text() != LockHolder.own { setText(LockHolder.own) }
  }
}
