/// Why a run failed. What it had committed stays, and the next run goes on from there.
public struct SyncError: Error, Sendable, CustomStringConvertible {
  public enum Code: Sendable {
    case unknownFeed, invalidFeed, paused, busy, waiting, gone, badStatus, badDocument
    case tooManyRejected, emptied, repeatedPage, tooManyPages, foreignPage, missingTarget
    case unaskedNotModified, missingToken
  }

  public let code: Code
  public let summary: StaticString
  public let context: [(String, String)]
  public let advice: String?
  /// The listing cannot be gone on with: the next run must begin it anew.
  let endsListing: Bool

  init(
    _ code: Code, _ summary: StaticString, _ context: [(String, String)] = [],
    advice: String? = nil, endsListing: Bool = false
  ) {
    self.code = code
    self.summary = summary
    self.context = context
    self.advice = advice
    self.endsListing = endsListing
  }

  /// One line: what the server or a file says in it cannot break out of it.
  public var description: String {
    var text = "\(summary)"
    if !context.isEmpty {
      text += " (" + context.map { "\($0.0): \($0.1)" }.joined(separator: ", ") + ")"
    }
    if let advice { text += "; " + advice }
    return String(text.map { $0.isControlCharacter ? "\u{fffd}" : $0 })
  }
}

extension Character {
  fileprivate var isControlCharacter: Bool {
    isNewline || unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
