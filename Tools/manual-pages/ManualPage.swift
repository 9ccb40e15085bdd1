import Foundation

/// The page of one command in mdoc(7).
struct ManualPage {
  private let command: CommandHelp
  private let program: CommandHelp
  private let date: String
  private let version: String
  private let common: Set<String>
  private var lines: [String] = []

  /// - Parameter program: The command at the root.
  /// - Parameter date: `November 27, 2026`.
  /// - Parameter common: The identities of the options that most commands have.
  init(
    of command: CommandHelp, in program: CommandHelp, date: String, version: String,
    common: Set<String>
  ) {
    (self.command, self.program) = (command, program)
    (self.date, self.version) = (date, version)
    self.common = common
    write()
  }

  var text: String { lines.joined(separator: "\n") + "\n" }

  private mutating func write() {
    writeHead()
    writeSynopsis()
    section("DESCRIPTION")
    paragraph(command.abstract ?? "")
    for text in command.explanation { paragraph(text) }
    writeSubcommands()
    writeArguments()
    if command.words.count == 1 { writeEnvironment() }
    writeStatuses()
    writeExamples()
    writeReferences()
  }

  private mutating func writeHead() {
    lines.append(".Dd \(date)")
    lines.append(".Dt \(command.pageName.uppercased()) 1")
    lines.append(".Os Mooring \(version)")
    section("NAME")
    lines.append(".Nm \(command.pageName)")
    // The line ends without a full stop, by convention.
    let abstract = command.abstract ?? ""
    let isSentence = abstract.hasSuffix(".")
    lines.append(".Nd \(macroText(isSentence ? String(abstract.dropLast()) : abstract))")
  }

  private mutating func writeSynopsis() {
    section("SYNOPSIS")
    lines.append(".Sy \(macroText(command.words.joined(separator: " ")))")
    if !command.shownSubcommands.isEmpty { return lines.append(".Ar command ...") }
    for option in command.shownArguments where option.kind == "option" {
      if option.isOptional == true || option.defaultValue != nil { continue }
      lines.append(
        ".Sy \(macroText(option.flags)) Ns = Ns Ar \(macroText(option.valueName ?? "value"))")
    }
    lines.append(".Op Ar options")
    for argument in command.shownArguments where argument.kind == "positional" {
      let name = macroText(argument.valueName ?? "value")
      let repeated = argument.isRepeating == true ? " ..." : ""
      let isOptional = argument.isOptional == true
      lines.append(isOptional ? ".Op Ar \(name)\(repeated)" : ".Ar \(name)\(repeated)")
    }
  }

  private mutating func writeSubcommands() {
    if command.shownSubcommands.isEmpty { return }
    section("COMMANDS")
    lines.append(".Bl -tag -width Ds")
    for subcommand in command.shownSubcommands {
      lines.append(".It Sy \(macroText(subcommand.commandName))")
      lines.append(textLine(subcommand.abstract ?? ""))
      lines.append("See")
      lines.append(".Xr \(subcommand.pageName) 1 .")
    }
    lines.append(".El")
    if let verb = command.defaultSubcommand {
      lines.append(".Pp")
      lines.append(textLine("Without one of these, the command is `\(verb)`."))
    }
  }

  private mutating func writeArguments() {
    let arguments = command.shownArguments
    let own = arguments.filter { !common.contains($0.identity) }
    writeArguments(own.filter { $0.kind == "positional" }, under: "ARGUMENTS")
    writeArguments(own.filter { $0.kind != "positional" }, under: "OPTIONS")
    writeArguments(
      arguments.filter { common.contains($0.identity) }, under: "OPTIONS OF MOST COMMANDS")
  }

  private mutating func writeArguments(_ arguments: [ArgumentHelp], under title: String) {
    if arguments.isEmpty { return }
    section(title)
    lines.append(".Bl -tag -width Ds")
    for argument in arguments {
      let value = argument.kind == "flag" ? nil : argument.valueName.map { macroText("<\($0)>") }
      let name = argument.flags.isEmpty ? nil : "Sy \(macroText(argument.flags))"
      let parts = [name, value.map { "Ar \($0)" }].compactMap { $0 }
      lines.append(".It " + parts.joined(separator: " "))
      if let abstract = argument.abstract { lines.append(textLine(abstract)) }
      if let value = argument.defaultValue { lines.append(textLine("(default: \(value))")) }
      if let discussion = argument.discussion { paragraph(discussion) }
    }
    lines.append(".El")
  }

  private mutating func writeEnvironment() {
    section("ENVIRONMENT")
    list([
      ("MOORING_STORE", "The folder of the store, if --store is not given."),
      ("MOORING_MIGRATIONS", "Folders of migration files, separated by colons."),
      ("MOORING_MAP_SIZE", "The address space for the store, such as 8G."),
      ("MOORING_HUB", "The connection string of the hub's database."),
      ("MOORING_CONFIG", "The settings of the worker."),
      ("MOORING_WORKER_SYNC_EVERY", "The worker's flag --sync-every; so for each flag."),
      ("NO_COLOR", "Any value turns colors off."),
      ("TMPDIR", "The folder of temporary files."),
    ])
    section("FILES")
    list([
      ("/var/lib/mooring", "The store of the service, if Mooring is installed as a package."),
      ("/etc/mooring/worker.yaml", "The settings of the worker, which need not be there."),
      ("/usr/share/doc/mooring", "The documentation."),
    ])
  }

  private mutating func writeStatuses() {
    section("EXIT STATUS")
    if command.words.count > 1 {
      lines.append("0 if all is done. The others are listed in")
      return lines.append(".Xr \(program.commandName) 1 .")
    }
    list([
      ("0", "All is done."),
      ("1", "Something needs attention; only mooring status --check."),
      ("64", "The command line is wrong."),
      ("65", "The data is bad, damage was found, a job has failed, or stores differ."),
      ("69", "A thing that is needed is not there: a store, a feed, a file."),
      ("73", "A file or folder cannot be created."),
      ("74", "A read or a write failed."),
      ("75", "Something else holds it, or the network failed: try again."),
      ("77", "A permission is missing."),
      ("78", "The configuration or the schema is refused, or a schema differs."),
      ("79", "The changes are stored on other machines, and will appear here: do not repeat them."),
      ("130", "An interrupt; what was committed stays."),
    ])
  }

  private mutating func writeExamples() {
    // A command with subcommands shows one example of each.
    let examples =
      command.examples.isEmpty
      ? command.shownSubcommands.compactMap(\.examples.first) : command.examples
    if examples.isEmpty { return }
    section("EXAMPLES")
    lines.append(".Bd -literal -offset indent")
    lines += examples.map { withoutRequest(escaped($0)) }
    lines.append(".Ed")
  }

  private mutating func writeReferences() {
    let parent = command.words.dropLast().joined(separator: "-")
    let others =
      command.words.count > 1
      ? Self.relatives.filter { $0.contains(command.pageName) }.flatMap { $0 }
      : ["mooring", "mooring-dump"]
    let pages = Set((parent.isEmpty ? [] : [parent, program.commandName]) + others)
      .union(command.shownSubcommands.map(\.pageName)).subtracting([command.pageName]).sorted()
    section("SEE ALSO")
    for (index, page) in pages.enumerated() {
      lines.append(".Xr \(page) 1" + (index == pages.count - 1 ? "" : " ,"))
    }
  }

  /// Pages of which a reader of one often wants another.
  private static let relatives = [
    ["mooring-backup", "mooring-restore", "mooring-compact", "mooring-check"],
    ["mooring-status", "mooring-top", "mooring-serve", "mooring-report"],
    ["mooring-worker", "mooring-config", "mooring-jobs", "mooring-sync", "mooring-feed"],
    ["mooring-fetch", "mooring-set", "mooring-batch", "mooring-export", "mooring-dump"],
    ["mooring-jobs-pause", "mooring-jobs-resume", "mooring-jobs-drain"],
    ["mooring-feed-pause", "mooring-feed-resume", "mooring-feed-show"],
    ["mooring-migrate-plan", "mooring-migrate-up", "mooring-migrate-contract"],
  ]

  private mutating func list(_ items: [(name: String, text: String)]) {
    lines.append(".Bl -tag -width Ds")
    for item in items {
      lines.append(".It Sy \(macroText(item.name))")
      lines.append(textLine(item.text))
    }
    lines.append(".El")
  }

  /// Begins a section without hyphens at the ends of lines, which would be copied with a name.
  private mutating func section(_ title: String) { lines += [".Sh \(title)", ".nh"] }

  private mutating func paragraph(_ text: String) {
    if lines.last != ".nh" { lines.append(".Pp") }
    for line in text.split(separator: "\n") { lines.append(textLine(String(line))) }
  }

  /// One line of text. What is between backquotes is bold.
  private func textLine(_ text: String) -> String {
    let parts = text.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
    let isPaired = !parts.count.isMultiple(of: 2)
    let text =
      isPaired
      ? parts.enumerated().map { number, part in
        number.isMultiple(of: 2) ? escaped(part) : "\\fB\(escaped(part))\\fR"
      }.joined() : escaped(text)
    return withoutRequest(text)
  }

  /// A line that does not begin with a request.
  private func withoutRequest(_ text: String) -> String {
    text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }

  /// One argument of a macro. The mark before it keeps a word from being called as a macro.
  private func macroText(_ text: String) -> String {
    "\"\\&" + escaped(text).replacing("\"", with: "\\(dq") + "\""
  }

  private func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "`": result += "\\(ga"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case "'": result += "\\(aq"
      case let other where other.isASCII: result.unicodeScalars.append(other)
      default: result += "\\[u" + String(format: "%04X", scalar.value) + "]"
      }
    }
  }
}
