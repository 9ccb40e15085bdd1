import Foundation
internal import Glibc

/// The messages of a command, which go to standard error. Data goes to standard output.
///
/// A message that cannot be written is dropped: the status reports on the command's work.
public enum Message {
  /// The name by which the command was called: the last part of its path.
  public static let programName = ProcessInfo.processInfo.processName

  /// Writes one line, `mooring: …`. Control characters are replaced, as a message may quote a feed.
  public static func say(_ text: String) {
    let line = text.count > lengthMax ? text.prefix(lengthMax) + "…" : text
    write("\(programName): \(line.singleLine)")
  }

  /// The characters of a message. It may quote a name of a megabyte.
  private static let lengthMax = 4_000

  /// Writes one line unchanged. The caller has replaced its control characters.
  public static func write(_ line: String) {
    // A message that cannot be written is dropped, because the exit status reports the work.
    try? StandardOutput.with(descriptor: STDERR_FILENO) { try $0.write(line + "\n") }
  }
}

/// The terminal that a descriptor refers to.
public enum Terminal {
  /// True if a person types the command and reads its messages.
  public static var isInteractive: Bool {
    isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1
  }

  /// Returns the width in columns, 80 if the terminal does not report it, or nil without a
  /// terminal.
  static func width(of descriptor: Int32) -> Int? { size(of: descriptor)?.columns }

  /// Returns the size, 80 columns or 24 rows if the terminal does not report them, or nil without
  /// a terminal.
  package static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
    guard isatty(descriptor) == 1 else { return nil }
    var size = winsize()
    // SAFETY: TIOCGWINSZ fills exactly one `winsize`, which outlives the call.
    let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0
    return (
      isKnown && size.ws_col > 0 ? Int(size.ws_col) : 80,
      isKnown && size.ws_row > 0 ? Int(size.ws_row) : 24
    )
  }
}
