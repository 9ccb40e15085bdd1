import Foundation
import HTTPClient
import SystemSupport

extension FeedSecrets {
  /// Reads the secrets. Returns the headers that send them.
  ///
  /// - Throws: `missingSecret`, which does not quote the files.
  func read(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> [(name: String, value: String)] {
    var sent = try authorization?.read(environment) ?? []
    for header in try headers?.read(environment) ?? [] {
      if authorization != nil, header.name.lowercased() == "authorization" {
        throw SyncError(
          .missingSecret, "the header file has a header that a token or password is sent in",
          [("header", header.name)], advice: "remove it from the file, or the other secret")
      }
      sent.append(header)
    }
    return sent
  }
}

extension FeedSecret {
  /// The environment variable with the folder of a service's systemd credentials.
  static let directoryVariable = "CREDENTIALS_DIRECTORY"

  /// The largest size of a file with a token or a password, and of one with headers: more than
  /// servers accept.
  private static let (lineBytesMax, headersBytesMax) = (64 << 10, 8 << 10)
  private static let headersMax = 20

  /// Returns the headers that send the secret.
  fileprivate func read(_ environment: [String: String]) throws -> [(name: String, value: String)] {
    let file = try source.path(environment)
    switch kind {
    case .bearer: return [("Authorization", "Bearer " + (try Self.token(file)))]
    case .basic:
      let password = Data(try Self.password(file).utf8).base64EncodedString()
      return [("Authorization", "Basic " + password)]
    case .headers: return try Self.headers(file)
    }
  }

  /// Returns the first line of the file, trimmed.
  private static func token(_ file: String) throws -> String {
    let line = firstLine(file).trimmingCharacters(in: .whitespaces)
    guard !line.isEmpty, !hasControlCharacter(line) else {
      throw SyncError(
        .missingSecret,
        "the token file cannot be read, is empty, too long, or has control characters",
        [("file", file)], advice: "its first line is sent as a bearer token")
    }
    return line
  }

  /// Returns the first line of the file: the user, a colon and the password (RFC 7617).
  private static func password(_ file: String) throws -> String {
    let line = firstLine(file)
    // A tab is a control character here, unlike in a header.
    guard line.contains(":"), !line.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      throw SyncError(
        .missingSecret,
        "the password file cannot be read, is too long, or its first line is not user:password",
        [("file", file)], advice: "write the user, a colon and the password in its first line")
    }
    return line
  }

  /// Returns the headers that the lines of the file name.
  private static func headers(_ file: String) throws -> [(name: String, value: String)] {
    guard let text = text(file, bytesMax: headersBytesMax) else {
      throw SyncError(
        .missingSecret, "the header file cannot be read, is too long, or is not UTF-8",
        [("file", file), ("bytes at most", String(headersBytesMax))],
        advice: "write a header in each line, such as X-Api-Key: key")
    }
    var headers: [(name: String, value: String)] = []
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() {
      let line = line.trimmingCharacters(in: .whitespaces)
      if line.isEmpty || line.hasPrefix("#") { continue }
      func unusable(_ reason: String) -> SyncError {
        SyncError(
          .missingSecret, "a line of the header file cannot be sent",
          [("file", file), ("line", String(index + 1)), ("reason", reason)],
          advice: "write a header in each line, such as X-Api-Key: key")
      }
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard parts.count == 2, isHeaderName(name) else {
        throw unusable("it does not begin with the name of a header and a colon")
      }
      guard !isOfProgram(name.lowercased()) else {
        throw unusable("the program sets \(name.prefix(40)) itself")
      }
      let value = parts[1].trimmingCharacters(in: .whitespaces)
      guard !hasControlCharacter(value) else { throw unusable("it has a control character") }
      headers.append((name, value))
    }
    guard (1...headersMax).contains(headers.count) else {
      throw SyncError(
        .missingSecret, "the header file has no header, or too many",
        [("file", file), ("headers", String(headers.count)), ("at most", String(headersMax))],
        advice: "write a header in each line, such as X-Api-Key: key")
    }
    return headers
  }

  /// Returns true for headers that define the framing, the form or the conditions of a request.
  private static func isOfProgram(_ name: String) -> Bool {
    let names: Set = [
      "accept", "accept-encoding", "cache-control", "connection", "content-length",
      "content-encoding", "expect", "host", "keep-alive", "range", "te", "trailer",
      "transfer-encoding", "upgrade", "user-agent",
    ]
    return names.contains(name) || ["if-", "proxy-"].contains { name.hasPrefix($0) }
  }

  // MARK: Files

  /// Returns the first line that is not empty; an empty text without one.
  private static func firstLine(_ file: String) -> String {
    text(file, bytesMax: lineBytesMax)?.split(whereSeparator: \.isNewline).first.map(String.init)
      ?? ""
  }

  /// Returns the content of the file without a byte order mark; nil if it cannot be read, is too
  /// long or is not UTF-8.
  private static func text(_ file: String, bytesMax: Int) -> String? {
    do throws(SystemError) {
      let bytes = try BoundedFile.read(file, bytesMax: bytesMax)
      let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
      let text = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0)
      return bytes.count <= bytesMax ? String(validating: text, as: UTF8.self) : nil
    } catch {
      return nil
    }
  }
}

extension FeedSecret.Source {
  /// Returns the path of the file.
  ///
  /// - Throws: `missingSecret` for a credential outside of a service.
  fileprivate func path(_ environment: [String: String]) throws -> String {
    switch self {
    case .file(let path): return path
    case .credential(let name):
      let variable = FeedSecret.directoryVariable
      guard let folder = environment[variable], folder.hasPrefix("/") else {
        throw SyncError(
          .missingSecret, "the feed's credential does not exist", [("credential", name)],
          advice: "run it by a systemd unit with LoadCredential=\(name):PATH, which sets "
            + "$\(variable)")
      }
      return folder + "/" + name
    }
  }
}
