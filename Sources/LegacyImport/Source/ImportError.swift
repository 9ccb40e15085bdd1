import EntityModel

/// The reason why an inspection, a plan or a run failed. The source is unchanged. What a run has
/// committed stays, and the next run resumes.
public struct ImportError: Error, Sendable, CustomStringConvertible {
  /// The kind of an error.
  public enum Code: Sendable {
    /// There is no such file.
    case missing
    /// The file cannot be read or copied.
    case unreadable
    /// The file is something else: text, an archive, a web page.
    case notADatabase
    /// The file seems to be encrypted.
    case encrypted
    /// The file is shorter than its own header says.
    case truncated
    /// SQLite finds the file malformed, or a model beside it makes no sense.
    case damaged
    /// The file changes while it is copied, or is locked.
    case busy
    /// Something in the file exceeds the limits of an import.
    case tooLarge
    /// The mapping does not fit the source or the store.
    case mapping
    /// The mapping has guesses that have not been confirmed.
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

  /// The error on one line, whatever the file contains.
  public var description: String {
    String(errorLine: summary, context, advice: advice)
  }
}
