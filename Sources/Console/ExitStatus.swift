public import ArgumentParser

/// The exit status of a command. The numbers are those of BSD's sysexits.h, and 130 is the shell's
/// number for an interrupt; scripts and systemd units rely on them, so they never change.
public enum ExitStatus: Int32, CaseIterable, Sendable {
  case success = 0
  case usage = 64
  case badData = 65
  case unavailable = 69
  case cannotCreate = 73
  case inputOutput = 74
  case tryAgain = 75
  case notPermitted = 77
  case configuration = 78
  case interrupted = 130

  /// One sentence for the manual and for `--help`.
  public var meaning: String {
    switch self {
    case .success: "Done."
    case .usage: "The command line is wrong."
    case .badData: "The data is bad, or damage was found."
    case .unavailable: "Something needed is not there: a store, a feed, a file."
    case .cannotCreate: "A file or folder cannot be created."
    case .inputOutput: "Reading or writing failed."
    case .tryAgain: "Not now: something else holds it, or the network failed. Try again later."
    case .notPermitted: "Permission is missing."
    case .configuration: "The configuration or the schema is refused."
    case .interrupted: "Interrupted; what was committed stays."
    }
  }

  /// The error to throw from a command's `run()` to end with this status and without a message.
  public var exitCode: ExitCode { ExitCode(rawValue) }
}
