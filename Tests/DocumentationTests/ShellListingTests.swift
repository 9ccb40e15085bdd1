import Foundation
import TestSupport
import Testing

/// The commands that the pages show have their verbs and options.
@Suite struct ShellListingTests {
  /// One command, its subcommands and the options that it takes.
  private struct Command: Decodable {
    struct Argument: Decodable {
      struct Name: Decodable {
        let kind: String
        let name: String
      }
      let kind: String
      let names: [Name]?
    }
    let commandName: String
    let subcommands: [Command]?
    let arguments: [Argument]?

    var options: Set<String> {
      Set(
        (arguments ?? []).flatMap { $0.names ?? [] }
          .map { ($0.kind == "short" ? "-" : "--") + $0.name })
    }
  }

  private struct Help: Decodable { let command: Command }

  private static let tools = Result {
    try Dictionary(
      uniqueKeysWithValues: ["mooring", "mooring-dump", "feed-server"].map { name in
        let process = SpawnedProcess()
        process.executableURL = childExecutable(named: name)
        process.arguments = ["--experimental-dump-help"]
        process.environment = [:]
        process.standardInput = FileHandle.nullDevice
        return try withTemporaryFolder { folder in
          let path = folder.path("help.json")
          try Data().write(to: URL(filePath: path))
          let output = try #require(FileHandle(forWritingAtPath: path))
          process.standardOutput = output
          process.standardError = FileHandle.nullDevice
          try process.run()
          process.waitUntilExit()
          let data = try Data(contentsOf: URL(filePath: path))
          return (name, try JSONDecoder().decode(Help.self, from: data).command)
        }
      })
  }

  @Test(arguments: DocumentationPage.all)
  func everyCommandIsOne(_ page: DocumentationPage) throws {
    let tools = try Self.tools.get()
    for command in Self.commands(on: page) {
      let words = Self.words(of: command)
      guard let first = words.first, let tool = tools[first] else { continue }
      if let problem = Self.problem(with: words.dropFirst(), of: tool) {
        Issue.record("\(page.path): `\(command)`: \(problem)")
      }
    }
  }

  /// Every option in the running text is an option of a command.
  @Test(arguments: DocumentationPage.all)
  func everyOptionIsOne(_ page: DocumentationPage) throws {
    func options(_ command: Command) -> Set<String> {
      (command.subcommands ?? []).reduce(into: command.options) { $0.formUnion(options($1)) }
    }
    let known = try Self.tools.get().values.reduce(into: Set<String>()) {
      $0.formUnion(options($1))
    }
    // Those of the project's own scripts.
    let scripts: Set<String> = ["--quick", "--thorough", "--update"]
    for match in page.prose.matches(of: /`(--[a-z-]+)[^`]*`/) {
      let option = String(match.output.1)
      #expect(
        known.contains(option) || scripts.contains(option),
        "\(page.path): no command has \(option)")
    }
  }

  /// Lines of listings that begin with a command, with or without a prompt, and commands in the
  /// text.
  private static func commands(on page: DocumentationPage) -> [String] {
    let listed = page.listings.filter { ["console", "sh", ""].contains($0.language) }
      .flatMap { listing in
        listing.text.replacing("\\\n", with: " ").split(separator: "\n")
          .map { $0.trimmingPrefix(while: { $0 == " " || $0 == "$" }) }
      }
    let inline = page.prose.replacing("\n", with: " ").matches(of: /`([^`]+)`/).map(\.output.1)
    return (listed.map(String.init) + inline.map(String.init)).filter {
      $0.hasPrefix("mooring ") || $0.hasPrefix("mooring-dump ") || $0.hasPrefix("feed-server ")
    }
  }

  /// The words of a command in a shell, up to a pipe, a comment or a background mark.
  private static func words(of command: String) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    for character in command {
      switch (character, quote) {
      case (let mark, let open?) where mark == open: quote = nil
      case (_, _?): word = (word ?? "") + String(character)
      case ("'", nil), ("\"", nil):
        quote = character
        word = word ?? ""
      case (" ", nil):
        if let word { words.append(word) }
        word = nil
      default: word = (word ?? "") + String(character)
      }
    }
    if let word { words.append(word) }
    return Array(words.prefix { !["#", "&", "|", ">", "&&", "…"].contains($0) })
  }

  private static func problem(with words: ArraySlice<String>, of tool: Command) -> String? {
    var command = tool
    var isVerb = true
    for word in words {
      if word.hasPrefix("-"), word != "-" {
        let name = String(word.split(separator: "=")[0])
        if ["--help", "-h"].contains(name) { continue }
        // The parser prints the version whatever else there is, as for --version --verbose.
        if name == "--version" { return nil }
        if !command.options.contains(name) { return "\(command.commandName) has no \(name)" }
        isVerb = false
      } else if isVerb, let verbs = command.subcommands, !verbs.isEmpty {
        // In the text a placeholder or an ellipsis may stand for a verb.
        if word.first?.isLowercase != true { return nil }
        guard let verb = verbs.first(where: { $0.commandName == word }) else {
          // `mooring schema Episode` means `mooring schema show Episode`.
          return "\(command.commandName) has no \(word)"
        }
        command = verb
        if word == "help" { return nil }
      } else {
        isVerb = false
      }
    }
    return nil
  }
}
