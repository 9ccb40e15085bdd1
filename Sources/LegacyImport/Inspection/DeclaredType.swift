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
  private static let questions: Set<String> = ["is", "has", "was", "can", "should"]
  private static let first: Set<String> = ["use", "uses", "needs", "allow", "allows"]
  private static let last: Set<String> = [
    "read", "unread", "deleted", "hidden", "enabled", "disabled", "flagged", "starred", "marked",
    "archived", "played", "watched", "favorite", "favourite", "active", "visible", "persistent",
    "secure", "httponly", "pinned", "muted", "locked", "synced", "completed", "finished",
    "expanded",
    "downloaded", "enqueued", "bookmarked", "blocked", "dirty", "successful",
  ]
  /// Words of counters, sizes and dates, which may be 0 and 1 in all rows of a small file.
  private static let countings: Set<String> = [
    "count", "counts", "counter", "num", "number", "nr", "no", "total", "times", "sum", "amount",
    "last", "first", "latest", "date", "time", "timestamp", "max", "min", "size", "length",
    "days", "hours", "minutes", "seconds",
  ]

  static func contains(_ name: String) -> Bool {
    let words = NameWords(name).words
    guard let first = words.first, let last = words.last else { return false }
    if isQuestion(name) { return true }
    if !countings.isDisjoint(with: words) { return false }
    return (words.count > 1 && Self.first.contains(first)) || Self.last.contains(last)
  }

  /// Returns true for a name such as `is_read`, which is true or false.
  static func isQuestion(_ name: String) -> Bool {
    let words = NameWords(name).words
    guard words.count > 1, let first = words.first else { return false }
    return questions.contains(first)
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

  /// Words that make a duration of a time, as in play_time.
  private static let durations: Set<String> = [
    "play", "playing", "playback", "played", "total", "run", "running", "elapsed", "cpu", "spent",
    "remaining", "wait", "waiting", "listen", "listening", "watch", "watching", "reading", "active",
    "idle", "up", "cumulative", "duration", "travel", "lap", "average", "avg",
  ]

  /// Returns true for a name such as play_time and watchTimeMs: the time of an event, or one that
  /// passes.
  static func mayBeDuration(_ name: String) -> Bool {
    let words = NameWords(name).words
    if words.contains("last") { return false }
    return words.contains("time") && !durations.isDisjoint(with: words)
      || words.contains { $0.hasSuffix("time") && durations.contains(String($0.dropLast(4))) }
  }

  static func contains(_ name: String) -> Bool {
    let words = NameWords(name).words
    guard let last = words.last else { return false }
    return words.contains(where: Self.words.contains) || (last == "at" && words.count > 1)
      || endings.contains { last.hasSuffix($0) }
  }
}
