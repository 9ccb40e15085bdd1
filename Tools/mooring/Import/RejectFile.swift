import Console
import Glibc
import LegacyImport
import TextFormats

/// A new file of rejects, one object of JSON on each line.
enum RejectFile {
  /// Runs a body with a function that adds a reject.
  ///
  /// - Parameter path: `nil` keeps none.
  /// - Throws: `CommandError` if there is something at the path, or nothing can be made there; what
  ///   the body throws.
  static func writing<R>(
    to path: String?, _ body: ((ImportReject) throws -> Void) throws -> R
  ) throws -> R {
    guard let path else { return try body { _ in } }
    // For the owner alone: what is in the rows may be private.
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let reason = errno == EEXIST ? "is there already" : String(cString: strerror(errno))
      throw CommandError(.cannotCreate, "--rejects: \(path): \(reason); choose another name")
    }
    defer { close(descriptor) }
    return try StandardOutput.with(descriptor: descriptor) { output in
      try body { try output.write($0.json + "\n") }
    }
  }
}

extension ImportReject {
  /// One object on one line, with the key and the row as JSON of their own, for `jq .row.ZTITLE`.
  var json: String {
    let members = [
      ("code", JSONLiteral.quoted(code)), ("entity", JSONLiteral.quoted(entity)), ("key", key),
      ("message", JSONLiteral.quoted(message)),
      ("property", property.map { JSONLiteral.quoted($0) } ?? "null"), ("row", row),
      ("table", JSONLiteral.quoted(table)),
    ]
    return JSONLiteral.object(members.map(\.0), members.map(\.1))
  }
}
