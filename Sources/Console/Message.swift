import Foundation

/// What a command tells people on standard error; data goes to standard output.
public enum Message {
  /// The command as it was called: the last part of its path.
  public static let programName = ProcessInfo.processInfo.processName

  /// Writes one line, `mooring: …`. What would move the cursor is made harmless, as a message may
  /// quote a feed.
  public static func say(_ text: String) {
    let line = text.count > lengthMax ? text.prefix(lengthMax) + "…" : text
    write("\(programName): \(line.singleLine)")
  }

  /// A message may quote a name of a megabyte.
  private static let lengthMax = 4_000

  /// Writes one line as it stands: for what has been made safe for a terminal.
  public static func write(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}
