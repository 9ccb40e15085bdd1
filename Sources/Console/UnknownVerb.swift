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

  /// The letters to insert, remove, change, or swap with their neighbor to make one word of the
  /// other (Damerau and Levenshtein, each letter touched once).
  static func distance(_ left: String, _ right: String) -> Int {
    let (left, right) = (Array(left), Array(right))
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for i in left.indices {
      var row = [i + 1]
      for j in right.indices {
        var least = min(last[j] + (left[i] == right[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
          least = min(least, beforeLast[j - 1] + 1)
        }
        row.append(least)
      }
      (beforeLast, last) = (last, row)
    }
    return last[right.count]
  }
}
