import ArgumentParser
import EntityModel
import TextFormats

/// A word that names no command, and the command that may have been meant.
struct UnknownVerb {
  private let word: String
  private let verbs: [String]

  /// Returns nil if the words name a command, even if other arguments are wrong.
  init?(in root: any ParsableCommand.Type, _ arguments: [String]) {
    var command = root
    for argument in arguments {
      let subcommands = command.configuration.subcommands
      if subcommands.isEmpty || argument.hasPrefix("-") || argument == "help" { return nil }
      guard let next = subcommands.first(where: { $0._commandName == argument }) else {
        // It may be an argument of the command that is meant when none is named.
        if command.configuration.defaultSubcommand != nil { return nil }
        word = argument
        verbs = subcommands.map { $0._commandName }
        return
      }
      command = next
    }
    return nil
  }

  var description: String {
    let known = "known are \(verbs.joined(separator: ", "))"
    let advice = NearestName.advice(on: word, among: verbs, otherwise: known)
    return "unknown command \"\(word)\"; \(advice)"
  }
}
