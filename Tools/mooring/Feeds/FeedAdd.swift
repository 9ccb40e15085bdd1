import ArgumentParser
import Console
import FeedSync
import HTTPClient

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
        "http or https URLs of RSS, Atom, JSON Feed, homefeed/1 or any JSON.", valueName: "url"),
      completion: .feed)
    var urls: [String] = []
    @Option(
      help: ArgumentHelp(
        "A file with a URL on each line; - is standard input.",
        discussion: "Empty lines and lines that begin with # are skipped.", valueName: "file"),
      completion: .file())
    var from: String?
    @OptionGroup var feedOptions: FeedSettingsOptions
    @Flag(
      inversion: .prefixedNo,
      help: ArgumentHelp(
        "Whether each URL is requested first, and added only if it has a feed.",
        discussion: "By default only a single new URL is, and only on a terminal."))
    var check: Bool?

    func validate() throws {
      if urls.isEmpty, from == nil {
        throw ValidationError("name the URL of a feed, or a file of URLs: --from FILE")
      }
    }

    func run() async throws {
      let settings = try feedOptions.settings()
      let list = try FeedList(urls, file: from)
      let store = try options.openOrCreate()
      guard from == nil, urls.count == 1, let url = urls.first else {
        return try await list.add(
          to: store, settings, isChecked: check ?? false, isQuiet: options.quiet)
      }
      let feeds = Feeds(store)
      list.warnOfOpenSecrets(settings, isQuiet: options.quiet)
      let isUnknown = try feeds.feed(named: url) == nil
      if check ?? (isUnknown && Terminal.isInteractive) {
        let addition = try CheckedAddition(store, settings, isQuiet: options.quiet)
        return try await addition.add(url)
      }
      let isNew = try await feeds.add(url, settings)
      if !options.quiet {
        Message.say("\(isNew ? "added" : "changed") the feed \(shownURL(url))")
      }
    }
  }
}
