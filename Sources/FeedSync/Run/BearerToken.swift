import Foundation
import HTTPClient

/// The secret of a feed: from a file or a systemd credential, never from the store, the command line
/// or a message.
enum BearerToken {
  /// Where systemd puts the credentials of a service.
  static let directoryVariable = "CREDENTIALS_DIRECTORY"

  /// The feed's token; nil if it has none.
  ///
  /// - Throws: `missingToken`, without a word of what the file holds.
  static func read(
    for feed: Feed, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> String? {
    if let name = feed.credential {
      guard let folder = environment[directoryVariable], folder.hasPrefix("/") else {
        throw SyncError(
          .missingToken, "the feed's credential is not there", [("credential", name)],
          advice: "run it by a systemd unit with LoadCredential=\(name):PATH, which sets "
            + "$\(directoryVariable)")
      }
      return try read(folder + "/" + name)
    }
    return try feed.tokenFile.map(read)
  }

  /// Whether the text names a credential, which is a plain file's name.
  static func isCredentialName(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255
      && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/:".utf8.contains($0) }
  }

  /// The first line of a file, without spaces around it.
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
