import ArgumentParser
import Console
import FeedDocuments
import FeedSync
import Foundation
import HTTPClient

extension FeedCommand {
  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add",
      abstract: "Adds feeds, or changes the settings of feeds.",
      discussion: """
        mooring feed add https://example.org/feed.xml --every 30m
        mooring feed add --from feeds.txt

        A URL that cannot be a feed's is reported, a URL of a file with its line, and the others \
        are added; the status is then 64 or, for a file, 65. The options apply to all feeds.
        """)

    @OptionGroup var options: StoreOptions
    @Argument(
      help: ArgumentHelp(
        "http or https URLs of RSS, Atom, JSON Feed, homefeed/1 or any JSON.", valueName: "url"))
    var urls: [String] = []
    @Option(
      help: ArgumentHelp(
        "A file with a URL on each line; - is standard input.",
        discussion: "Empty lines and lines that begin with # are skipped.", valueName: "file"))
    var from: String?
    @Option(
      help: ArgumentHelp("Where items go that name no kind of their own.", valueName: "entity"))
    var into: String?
    @Option(help: ArgumentHelp("Time between scheduled runs, such as 15m.", valueName: "time"))
    var every: String?
    @Option(
      help: ArgumentHelp("A file whose first line is sent as a bearer token.", valueName: "file"))
    var tokenFile: String?
    @Option(
      help: ArgumentHelp(
        "A credential of systemd whose first line is sent as a bearer token.",
        discussion: "It is read from $CREDENTIALS_DIRECTORY at each request.",
        valueName: "name"))
    var credential: String?
    @Option(
      help: ArgumentHelp(
        "The mapping of documents to records, for formats without a built-in one.",
        discussion: "One of \(FeedMappingText.builtInNames.joined(separator: ", ")), or a file.",
        valueName: "file"))
    var mapping: String?
    @Flag(
      inversion: .prefixedNo,
      help: ArgumentHelp(
        "Whether a feed that had a public address may have a private one later.",
        discussion: """
          By default it may not: otherwise who controls its host name could send requests into \
          your network.
          """))
    var allowPrivate: Bool?

    func validate() throws {
      if tokenFile != nil, credential != nil {
        throw ValidationError("--token-file does not go with --credential; leave one out")
      }
      if urls.isEmpty, from == nil {
        throw ValidationError("name the URL of a feed, or a file of URLs: --from FILE")
      }
    }

    func run() async throws {
      let settings = Feeds.Settings(
        entity: into, every: try every.map(interval),
        // A later sync may run in another folder.
        tokenFile: tokenFile.map { URL(fileURLWithPath: $0).path }, credential: credential,
        mapping: try mapping.map(FeedMappingText.init(named:)), allowsPrivateAddress: allowPrivate)
      let list = try FeedList(urls, file: from)
      let store = try options.openOrCreate()
      if from == nil, let url = urls.first, urls.count == 1 {
        let isNew = try await Feeds(store).add(url, settings)
        if !options.quiet {
          Message.say("\(isNew ? "added" : "changed") the feed \(shownURL(url))")
        }
        return
      }
      let outcomes = try await Feeds(store).add(list.entries.map(\.url), settings)
      try list.report(outcomes, isQuiet: options.quiet)
    }

    private func interval(_ text: String) throws -> Duration {
      let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
      guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()),
        number > 0, number <= 10_000
      else { throw ValidationError("\"\(text)\" is no time; write 90s, 15m, 2h or 1d") }
      return .seconds(number * unit)
    }
  }
}

/// The URLs that are to be added, in their order.
private struct FeedList {
  struct Entry {
    let url: String
    /// The line of the file; nil for an argument.
    let line: Int?
  }

  private static let bytesMax = 64 << 20

  private(set) var entries: [Entry]
  /// The file as messages name it.
  private let name: String

  init(_ arguments: [String], file: String?) throws {
    entries = arguments.map { Entry(url: $0, line: nil) }
    name = file == "-" ? "standard input" : file ?? ""
    guard let file else { return }
    let text = try ConfigurationFile("list of feeds", bytesMax: Self.bytesMax)
      .text(of: file, takesInput: true, advice: "name a file, or - for standard input")
    let mark: Unicode.Scalar = "\u{FEFF}"
    let lines = text.unicodeScalars.drop { $0 == mark }
      .split(separator: "\n", omittingEmptySubsequences: false)
    for (index, scalars) in lines.enumerated() {
      let line = String(scalars).trimmingCharacters(in: .whitespacesAndNewlines)
      if line.isEmpty || line.hasPrefix("#") { continue }
      entries.append(Entry(url: line, line: index + 1))
    }
  }

  /// Prints what became of the URLs.
  ///
  /// - Parameter outcomes: One for each entry.
  /// - Throws: `CommandError` if one was refused.
  func report(_ outcomes: [Feeds.Addition], isQuiet: Bool) throws {
    var (added, changed, repeated, refused) = (0, 0, 0, 0)
    for (entry, outcome) in zip(entries, outcomes) {
      switch outcome {
      case .added: added += 1
      case .changed: changed += 1
      case .repeated(let first):
        repeated += 1
        if !isQuiet { Message.say(place(of: entry) + "the same URL as \(text(of: first))") }
      case .refused(let error):
        refused += 1
        Message.say(place(of: entry) + error.description)
      }
    }
    if !isQuiet {
      let counts = [(added, "added"), (changed, "changed"), (repeated, "repeated")]
      let parts = counts.compactMap { count, word in
        count == 0 && word != "added" ? nil : "\(Formatting.count(Int64(count))) \(word)"
      }
      Message.say("feeds: " + parts.joined(separator: ", "))
    }
    guard refused > 0 else { return }
    let isOfFile = zip(entries, outcomes).contains { entry, outcome in
      if case .refused = outcome { entry.line != nil } else { false }
    }
    throw CommandError(
      isOfFile ? .badData : .usage,
      "\(Formatting.count(Int64(refused))) of \(Formatting.count(Int64(entries.count))) URLs were "
        + "refused; correct them and add them again")
  }

  private func place(of entry: Entry) -> String { entry.line.map { "\(name):\($0): " } ?? "" }

  private func text(of index: Int) -> String {
    entries[index].line.map { "line \($0)" } ?? "argument \(index + 1)"
  }
}

extension FeedMappingText {
  /// Reads a built-in mapping of that name, else the file there.
  ///
  /// - Throws: `CommandError` for a file that cannot be read. What is in it is checked later.
  fileprivate init(named name: String) throws {
    if let builtIn = FeedMappingText.builtIn(name) {
      self = builtIn
      return
    }
    let advice = "name a file, or one of " + FeedMappingText.builtInNames.joined(separator: ", ")
    let file = ConfigurationFile("mapping", bytesMax: FeedMappingText.bytesMax)
    self.init(try file.text(of: name, advice: advice), file: name)
  }
}
