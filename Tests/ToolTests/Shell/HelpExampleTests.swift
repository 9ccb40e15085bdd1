import ArgumentParser
import Foundation
import Testing

@testable import mooring
@testable import mooring_dump

/// The examples at the beginning of each help.
@Suite struct HelpExampleTests {
  private static var programs: [String: any ParsableCommand.Type] {
    ["mooring": Mooring.self, "mooring-dump": MooringDump.self]
  }

  /// The lines of the first paragraph of each command's help, by the words that call it.
  private static var examples: [String: [String]] {
    programs.reduce(into: [:]) { add($1.value, [$1.key], to: &$0) }
  }

  private static func add(
    _ type: any ParsableCommand.Type, _ words: [String], to examples: inout [String: [String]]
  ) {
    let configuration = type.configuration
    guard configuration.subcommands.isEmpty else {
      for subcommand in configuration.subcommands {
        add(subcommand, words + [subcommand._commandName], to: &examples)
      }
      return
    }
    // `mooring schema` is short for `mooring schema show`.
    let isShort = words == ["mooring", "schema", "show"]
    examples[(isShort ? words.dropLast() : words).joined(separator: " ")] =
      configuration.discussion.components(separatedBy: "\n\n")[0]
      .split(separator: "\n").map(String.init)
  }

  static let commands = examples.keys.sorted()

  @Test func thereAreCommands() {
    #expect(Self.commands.count > 60)
  }

  @Test(arguments: commands)
  func theHelpBeginsWithAnExample(of command: String) throws {
    let lines = try #require(Self.examples[command])
    #expect(lines.contains { "\($0) |".contains(command + " ") }, "\(lines)")
  }

  @Test(arguments: commands)
  func everyExampleIsAValidCommandLine(of command: String) throws {
    for example in try #require(Self.examples[command]) {
      for words in try ShellWords.commands(in: example) {
        let program = try #require(Self.programs[words[0]], "\(example)")
        #expect(throws: Never.self, "\(example)") {
          try program.parseAsRoot(Array(words.dropFirst()))
        }
      }
    }
  }
}

/// The words of a line of a shell.
private enum ShellWords {
  struct Unterminated: Error { let line: String }

  /// - Returns: The words of each command of a pipe.
  static func commands(in line: String) throws -> [[String]] {
    var commands: [[String]] = [[]]
    var word: String?
    var quote: Character?
    func endWord() {
      if let word { commands[commands.count - 1].append(word) }
      word = nil
    }
    for character in line {
      switch (character, quote) {
      case (let mark, let open?) where mark == open: quote = nil
      case (_, _?): word = (word ?? "") + String(character)
      case ("'", nil), ("\"", nil): (quote, word) = (character, word ?? "")
      case ("|", nil): commands.append([])
      case (" ", nil): endWord()
      default: word = (word ?? "") + String(character)
      }
    }
    endWord()
    if quote != nil { throw Unterminated(line: line) }
    return commands
  }
}
