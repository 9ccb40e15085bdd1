import EntityModel

/// The meaning of a column's declared type. SQLite does not enforce it.
enum DeclaredType: Sendable {
  case integer, boolean, real, decimal, text, blob, date, other

  init(_ declared: String) {
    let name = declared.uppercased()
    func has(_ words: String...) -> Bool { words.contains { name.contains($0) } }
    self =
      if has("BOOL") || ["BIT", "TINYINT(1)", "INT(1)", "INTEGER(1)"].contains(name) {
        .boolean
      } else if has("DATE", "TIME") {
        .date
      } else if has("INT", "LONG"), !has("CHAR", "TEXT") {
        .integer
      } else if has("CHAR", "CLOB", "TEXT", "STRING") {
        .text
      } else if has("BLOB", "BINARY") {
        .blob
      } else if has("REAL", "FLOA", "DOUB") {
        .real
      } else if has("DEC", "NUMERIC") {
        .decimal
      } else {
        .other
      }
  }

  /// Returns true for STRING, which SQLite takes for a numeric type.
  static func isString(_ declared: String) -> Bool {
    let name = declared.uppercased()
    return name.contains("STRING") && !name.contains("CHAR") && !name.contains("TEXT")
      && !name.contains("INT")
  }
}

/// Recognizes names of columns whose values are true and false.
enum BooleanNames {
  private static let first: Set<String> = [
    "is", "has", "was", "can", "should", "use", "uses", "needs", "allow", "allows",
  ]
  private static let last: Set<String> = [
    "read", "unread", "deleted", "hidden", "enabled", "disabled", "flagged", "starred", "marked",
    "archived", "played", "watched", "favorite", "favourite", "active", "visible", "persistent",
    "secure", "httponly", "pinned", "muted", "locked", "synced", "completed", "finished",
    "expanded",
    "downloaded", "enqueued", "bookmarked", "blocked", "dirty", "successful",
  ]

  static func contains(_ name: String) -> Bool {
    let words = NameWords(name).words
    guard let first = words.first, let last = words.last else { return false }
    return (words.count > 1 && Self.first.contains(first)) || Self.last.contains(last)
  }
}

/// Recognizes names of columns whose values are dates.
enum DateNames {
  private static let words: Set<String> = [
    "date", "dates", "time", "timestamp", "datetime", "created", "creation", "modified",
    "modification", "updated", "published", "expires", "expired", "expiry", "expiration", "added",
    "seen", "visited", "utc", "when", "deadline", "due", "birthday", "ts",
  ]
  private static let endings = [
    "date", "time", "timestamp", "modified", "updated", "created", "published", "played",
    "playback",
    "added", "visited", "seen", "utc",
  ]

  static func contains(_ name: String) -> Bool {
    let words = NameWords(name).words
    guard let last = words.last else { return false }
    return words.contains(where: Self.words.contains) || (last == "at" && words.count > 1)
      || endings.contains { last.hasSuffix($0) }
  }
}
