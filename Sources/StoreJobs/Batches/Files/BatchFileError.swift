/// Why a file of items, or one of its items, cannot be read.
public struct BatchFileError: Error, Sendable, CustomStringConvertible {
  public enum Code: Sendable {
    case missing
    case unreadable
    /// Its text is wrong, or says what the entity does not take.
    case malformed
  }

  public let code: Code
  /// One line: what is wrong, and what to do.
  public let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}
