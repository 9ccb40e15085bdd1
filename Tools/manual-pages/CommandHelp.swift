import Foundation

/// The help of a program, as swift-argument-parser prints it with `--experimental-dump-help`.
struct ProgramHelp: Decodable {
  let command: CommandHelp
}

struct CommandHelp: Decodable {
  let commandName: String
  let superCommands: [String]?
  let abstract: String?
  let discussion: String?
  let shouldDisplay: Bool?
  let defaultSubcommand: String?
  let subcommands: [CommandHelp]?
  let arguments: [ArgumentHelp]?

  /// The words that call it: `mooring feed add`.
  var words: [String] { (superCommands ?? []) + [commandName] }
  /// The name of its page.
  var pageName: String { words.joined(separator: "-") }

  var shownSubcommands: [CommandHelp] {
    (subcommands ?? []).filter { $0.shouldDisplay != false && $0.commandName != "help" }
  }

  /// The arguments. A flag and its inversion are one.
  var shownArguments: [ArgumentHelp] {
    (arguments ?? []).filter { $0.shouldDisplay != false }.reduce(into: []) { result, argument in
      if argument.kind == "flag", let last = result.last, last.kind == "flag",
        last.abstract == argument.abstract
      {
        result[result.count - 1].names = (last.names ?? []) + (argument.names ?? [])
      } else {
        result.append(argument)
      }
    }
  }

  /// This command and all below it.
  var all: [CommandHelp] { [self] + shownSubcommands.flatMap(\.all) }

  /// The discussion in its paragraphs.
  private var paragraphs: [String] { (discussion ?? "").components(separatedBy: "\n\n") }

  /// The lines of the first paragraph if they are commands.
  var examples: [String] {
    let lines = paragraphs[0].split(separator: "\n").map(String.init)
    return lines.allSatisfy { $0.hasPrefix(words[0] + " ") || $0.hasPrefix("mooring") } ? lines : []
  }

  /// The paragraphs that are no examples.
  var explanation: [String] {
    (examples.isEmpty ? paragraphs : Array(paragraphs.dropFirst())).filter { !$0.isEmpty }
  }
}

struct ArgumentHelp: Decodable {
  struct Name: Decodable {
    let kind: String
    let name: String

    var text: String { (kind == "long" ? "--" : "-") + name }
  }

  let kind: String
  let shouldDisplay: Bool?
  let isOptional: Bool?
  let isRepeating: Bool?
  fileprivate(set) var names: [Name]?
  let valueName: String?
  let defaultValue: String?
  let abstract: String?
  let discussion: String?

  /// The names, without the value: `-h, --help`; nothing for a positional argument.
  var flags: String { (names ?? []).map(\.text).joined(separator: ", ") }

  /// The text by which the same argument of other commands is recognized.
  var identity: String { flags + "\n" + (abstract ?? "") }
}
