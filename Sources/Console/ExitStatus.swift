public import ArgumentParser

/// The exit status of a command. The numbers are those of BSD's sysexits.h, and 130 is the shell's
/// number for an interrupt; scripts and systemd units rely on them, so they never change.
public enum ExitStatus: Int32, CaseIterable, Sendable {
  case success = 0
  /// Something needs attention; for `mooring status --check` alone.
  case needsAttention = 1
  /// The command line is wrong.
  case usage = 64
  /// The data is bad, or damage was found.
  case badData = 65
  /// A thing that is needed is not there: a store, a feed, a file.
  case unavailable = 69
  /// A file or folder cannot be created.
  case cannotCreate = 73
  /// A read or a write failed.
  case inputOutput = 74
  /// A failure that passes: something else holds it, or the network failed.
  case tryAgain = 75
  /// A permission is missing.
  case notPermitted = 77
  /// The configuration or the schema is refused.
  case configuration = 78
  /// The changes are stored on other machines and will appear here: they must not be repeated.
  case notHereYet = 79
  /// An interrupt; what was committed stays.
  case interrupted = 130

  /// The error to throw from a command's `run()` to end with this status and without a message.
  public var exitCode: ExitCode { ExitCode(rawValue) }
}
