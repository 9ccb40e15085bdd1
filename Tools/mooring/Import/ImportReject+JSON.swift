import LegacyImport
import TextFormats

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
