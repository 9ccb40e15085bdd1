import ArgumentParser

/// A first word that names no command, and the command that may have been meant.
struct UnknownVerb {
  private let word: String
  private let verbs: [String]

  /// - Returns: `nil` if the words lead to a command, whatever is wrong after that.
  init?(in root: any ParsableCommand.Type, _ arguments: [String]) {
    var command = root
    for argument in arguments {
      let subcommands = command.configuration.subcommands
      if subcommands.isEmpty || argument.hasPrefix("-") || argument == "help" { return nil }
      guard let next = subcommands.first(where: { $0._commandName == argument }) else {
        word = argument
        verbs = subcommands.map { $0._commandName }
        return
      }
      command = next
    }
    return nil
  }

  var description: String {
    let nearest = verbs.min { UnknownVerb.distance(word, $0) < UnknownVerb.distance(word, $1) }
    let isNear = nearest.map { UnknownVerb.distance(word, $0) <= max(1, word.count / 3) } ?? false
    let advice =
      isNear ? "did you mean \"\(nearest ?? "")\"?" : "known are \(verbs.joined(separator: ", "))"
    return "unknown command \"\(word)\"; \(advice)"
  }

  /// The letters to insert, remove or change to make one word of the other (Levenshtein).
  static func distance(_ left: String, _ right: String) -> Int {
    var row = Array(0...right.count)
    for (i, a) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, b) in right.enumerated() {
        let changed = diagonal + (a == b ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(changed, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[right.count]
  }
}
