import Foundation

extension ImportMapping {
  /// Whether an import may bear the name. The migration that goes with it has a line of this name, so
  /// that lines of the system are none.
  package static func isName(_ name: String) -> Bool {
    name.wholeMatch(of: /[a-z][a-z0-9.-]{0,63}/) != nil && name != "system"
      && !name.hasPrefix("system.")
  }

  /// A name of the source in a line of text: nothing in it ends the line, and it is cut to what can be
  /// read.
  static func quoted(_ name: String) -> String {
    let lengthMax = 60
    var text = ""
    for scalar in name.unicodeScalars.prefix(lengthMax) {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: text += "\u{FFFD}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return name.unicodeScalars.count > lengthMax ? "\"\(text)…\"" : "\"\(text)\""
  }
}

extension RejectLimit {
  /// - Parameter percentage: Digits, with up to nine behind a point: 0.1 is one in a thousand.
  /// - Returns: `nil` if it is of another form or over 100.
  init?(percentage: String) {
    guard percentage.wholeMatch(of: /[0-9]{1,3}(\.[0-9]{1,9})?/) != nil,
      let decimal = Decimal(string: percentage), decimal <= 100,
      let share = Double("\(decimal / 100)")
    else { return nil }
    self = .share(share)
  }

  /// As the mapping file has it: `12`, `0.1%`.
  package var text: String {
    switch self {
    case .count(let count): String(count)
    case .share(let share): "\((Decimal(string: "\(share)") ?? 0) * 100)%"
    }
  }
}

extension SourceTable {
  /// What a key names that is the row id, where no column is.
  package static let rowIDKey = "rowid"

  /// Whether it has rows of the file's owner: what SQLite keeps for itself and what is no table has none.
  package var isOrdinary: Bool {
    kind == .table && !name.lowercased().hasPrefix("sqlite_")
  }

  var kindText: String {
    switch kind {
    case .table: "a table of SQLite itself"
    case .virtual: "a virtual table"
    case .shadow: "storage of a virtual table"
    case .view: "a view"
    }
  }
}
