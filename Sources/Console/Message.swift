import Foundation

/// What a command tells people on standard error; data goes to standard output.
public enum Message {
  /// The command as it was called: the last part of its path.
  public static let programName = ProcessInfo.processInfo.processName

  /// Writes one line, `mooring: …`. What would move the cursor is made harmless, as a message may
  /// quote a feed.
  public static func say(_ text: String) { write("\(programName): \(text.singleLine)") }

  static func write(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}
