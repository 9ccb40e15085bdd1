import CMooringPostgreSQL
import TextFormats

/// A connection string, read by libpq's own rules: `key=value …` or `postgresql://…`. What it does
/// not contain comes from the service file, the password file and the environment when a connection
/// is made. Descriptions and dumps do not show its secrets.
package struct ConnectionString: Sendable {
  struct Option: Sendable {
    let keyword: String
    let value: String
    let isSecret: Bool
  }

  /// The options that the string contains.
  let options: [Option]

  /// Parses the text; reads no file and connects to no server.
  ///
  /// - Throws: `.connectionString`, without the words of the text: any of them may be a piece of a
  ///   password. `.libraryMissing` without libpq.
  package init(_ text: String) throws(PostgreSQLError) {
    guard !text.utf8.contains(0) else {
      throw PostgreSQLError(.connectionString, "it contains a zero byte")
    }
    let libpq = try LibPQ.loaded()
    var message: UnsafeMutablePointer<CChar>?
    guard let first = libpq.call.PQconninfoParse(text, &message) else {
      defer { libpq.call.PQfreemem(message) }
      throw PostgreSQLError(.connectionString, Self.withoutQuotations(LibPQ.text(message)))
    }
    // SAFETY: the array ends with an element without keyword, and is freed after it was copied.
    defer { libpq.call.PQconninfoFree(first) }
    var options: [Option] = []
    var next = first
    while let keyword = next.pointee.keyword {
      if let value = next.pointee.val {
        let name = String(cString: keyword)
        let display = LibPQ.text(next.pointee.dispchar)
        options.append(
          Option(
            keyword: name, value: String(cString: value),
            isSecret: display.contains("*") || name.hasPrefix("scram_")))
      }
      next += 1
    }
    self.options = options
  }

  /// True if the text itself contains a password. Others can read the arguments of a process, so
  /// that such a string does not belong there.
  package var containsPassword: Bool { options.contains { $0.isSecret } }

  /// Replaces what libpq quotes, from the first to the last quotation mark: the text between them
  /// may contain such marks, too.
  private static func withoutQuotations(_ message: String) -> String {
    let message = message.replacing("\"=\"", with: "=")
    guard let first = message.firstIndex(of: "\""), let last = message.lastIndex(of: "\"") else {
      return message
    }
    return message[..<first] + "…" + message[message.index(after: last)...]
  }
}

extension ConnectionString: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The options as `key=value …`, with `***` for secrets.
  package var description: String {
    options.map { "\($0.keyword)=\($0.isSecret ? "***" : Self.quoted($0.value))" }
      .joined(separator: " ")
  }

  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: ["options": description]) }

  private static func quoted(_ value: String) -> String {
    guard value.isEmpty || value.contains(where: { " '\\\t\n".contains($0) }) else { return value }
    let escaped = value.escaping("\\", as: "\\\\").escaping("'", as: "\\'")
    return "'\(escaped)'"
  }
}
