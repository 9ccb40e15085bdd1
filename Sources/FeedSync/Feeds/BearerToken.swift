import Foundation
import HTTPClient
import SystemSupport

/// Reads the secret of a feed from a file or a systemd credential. It is never in the store, on the
/// command line or in a message.
enum BearerToken {
  /// The environment variable with the folder of a service's systemd credentials.
  static let directoryVariable = "CREDENTIALS_DIRECTORY"

  /// Returns the feed's token; nil if it has none.
  ///
  /// - Throws: `missingToken`, which does not quote the file.
  static func read(
    for feed: Feed, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> String? {
    if let name = feed.credential {
      guard let folder = environment[directoryVariable], folder.hasPrefix("/") else {
        throw SyncError(
          .missingToken, "the feed's credential does not exist", [("credential", name)],
          advice: "run it by a systemd unit with LoadCredential=\(name):PATH, which sets "
            + "$\(directoryVariable)")
      }
      return try read(folder + "/" + name)
    }
    return try feed.tokenFile.map(read)
  }

  /// Returns true if the text is the name of a credential: a file name without a path.
  static func isCredentialName(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255
      && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/:".utf8.contains($0) }
  }

  /// The largest size of the file. Servers accept headers of a few kilobytes.
  private static let bytesMax = 64 << 10

  /// Returns the first line of a file, trimmed.
  static func read(_ file: String) throws -> String {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try BoundedFile.read(file, bytesMax: bytesMax)
    } catch {
      throw unusable(file)
    }
    guard bytes.count <= bytesMax, let text = String(validating: bytes, as: UTF8.self),
      let line = text.split(whereSeparator: \.isNewline).first
    else { throw unusable(file) }
    let token = line.trimmingCharacters(in: .whitespaces)
    guard !token.isEmpty, !hasControlCharacter(token) else { throw unusable(file) }
    return token
  }

  private static func unusable(_ file: String) -> SyncError {
    SyncError(
      .missingToken, "the token file cannot be read, is empty, too long, or has control characters",
      [("file", file)], advice: "its first line is sent as a bearer token")
  }
}
