import Foundation

/// The secret of a feed.
enum BearerToken {
  /// The first line of a file, without spaces around it.
  ///
  /// - Throws: `invalidFeed`, without a word of what the file holds.
  static func read(_ file: String) throws -> String {
    guard let data = FileManager.default.contents(atPath: file),
      let text = String(data: data, encoding: .utf8),
      let line = text.split(whereSeparator: \.isNewline).first
    else { throw unusable(file) }
    let token = line.trimmingCharacters(in: .whitespaces)
    guard !token.isEmpty, !hasControlCharacter(token) else { throw unusable(file) }
    return token
  }

  private static func unusable(_ file: String) -> SyncError {
    SyncError(
      .missingToken, "the token file cannot be read, is empty or has control characters",
      [("file", file)], advice: "its first line is sent as a bearer token")
  }
}
