import ArgumentParser
import Console
import FeedDocuments
import FeedSync
import Foundation
import HTTPClient
import WorkerService

extension FeedCommand {
  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add",
      abstract: "Adds feeds, or changes the settings of feeds.",
      discussion: """
        mooring feed add https://example.org/feed.xml --every 30m
        mooring feed add https://example.org/ --check
        mooring feed add --from feeds.txt

        On a terminal, a single new URL is requested before it is added. If it is the URL of a \
        page, the first feed that the page names is added.

        A URL that cannot be a feed's is reported, a URL of a file with its line, and the others \
        are added; the status is then that of the first one: 64 or, for a file, 65. The options \
        apply to all feeds.
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
    @OptionGroup var request: FeedRequestOptions
    @Flag(help: "Remove the feed's token, password and headers.") var noCredentials = false
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
    @Flag(
      inversion: .prefixedNo,
      help: ArgumentHelp(
        "Whether each URL is requested first, and added only if it has a feed.",
        discussion: "By default a single new URL is, if the command is typed on a terminal."))
    var check: Bool?

    func validate() throws {
      if noCredentials, !request.secrets.isEmpty {
        throw ValidationError(
          "--no-credentials does not go with \(request.words[0]); leave one out")
      }
      if urls.isEmpty, from == nil {
        throw ValidationError("name the URL of a feed, or a file of URLs: --from FILE")
      }
    }

    func run() async throws {
      var settings = Feeds.Settings(
        entity: into, every: try every.map(interval), removesSecrets: noCredentials,
        mapping: try mapping.map(FeedMappingText.init(named:)), allowsPrivateAddress: allowPrivate)
      try request.apply(to: &settings)
      let list = try FeedList(urls, file: from)
      let store = try options.openOrCreate()
      let feeds = Feeds(store)
      warn(settings, list.entries.map(\.url))
      let single = from == nil && urls.count == 1 ? urls.first : nil
      let isUnknown = try single.map { try feeds.feed(named: $0) == nil } ?? false
      if check ?? (isUnknown && Terminal.isInteractive) {
        let addition = try CheckedAddition(store, settings, isQuiet: options.quiet)
        if let single { try await addition.add(single) } else { try await addition.add(list) }
      } else if let single {
        let isNew = try await feeds.add(single, settings)
        if !options.quiet {
          Message.say("\(isNew ? "added" : "changed") the feed \(shownURL(single))")
        }
      } else {
        let outcomes = try await feeds.add(list.entries.map(\.url), settings)
        try list.report(outcomes, isQuiet: options.quiet)
      }
    }

    /// Warns of secrets that everybody between here and the server can read.
    private func warn(_ settings: Feeds.Settings, _ urls: [String]) {
      if options.quiet { return }
      let open = urls.filter { Feeds.sendsUnencrypted(settings, to: $0) }
      guard let first = open.first else { return }
      let others = open.count > 1 ? " and \(open.count - 1) more" : ""
      Message.say(
        "\(shownURL(first))\(others): the secret is sent unencrypted; use https if the server has "
          + "it")
    }

    private func interval(_ text: String) throws -> Duration {
      guard let time = TimeText.duration(text), time >= .seconds(1),
        time.components.attoseconds == 0, time <= .seconds(10_000 * 86_400)
      else { throw ValidationError("\"\(text)\" is no time; write 90s, 15m, 2h or 1d") }
      return time
    }
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
