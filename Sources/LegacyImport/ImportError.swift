import EntityModel

/// Why an inspection, a plan or a run failed. The source is as it was; what a run has committed stays,
/// and the next one goes on from there.
public struct ImportError: Error, Sendable, CustomStringConvertible {
  public enum Code: Sendable {
    /// There is no such file.
    case missing
    /// The file cannot be read or copied.
    case unreadable
    /// Text, an archive, a page of the web: no SQLite file.
    case notADatabase
    /// What a key would make a SQLite file of.
    case encrypted
    /// Shorter than its own header says.
    case truncated
    /// SQLite finds it malformed.
    case damaged
    /// It changes while it is copied, or is locked.
    case busy
    /// Something in it is beyond what is read.
    case tooLarge
    /// The mapping does not fit the source or the store.
    case mapping
    /// The mapping has guesses that nobody has confirmed.
    case unconfirmed
    /// There is no space for the copy.
    case noSpace
    /// Another run of the same import is under way.
    case running
  }

  public let code: Code
  public let summary: StaticString
  public let context: [(String, String)]
  public let advice: String?

  package init(
    _ code: Code, _ summary: StaticString, _ context: [(String, String)] = [],
    advice: String? = nil
  ) {
    self.code = code
    self.summary = summary
    self.context = context
    self.advice = advice
  }

  /// One line: what a file says in it cannot break out of it.
  public var description: String {
    String(errorLine: summary, context, advice: advice)
  }
}
