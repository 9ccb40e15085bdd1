/// Why the settings cannot be read, but for the content of the file: that is a `YAMLError`.
public struct SettingsError: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Code: Sendable {
    /// A flag has a value that its setting does not take.
    case flag
    /// A variable of the environment has a value that its setting does not take.
    case environment
    /// The file cannot be read.
    case file
  }

  public let code: Code
  /// One line: what is wrong, and what to do.
  public let description: String
}
