import ArgumentParser
import Console
import FeedDocuments
import FeedSync
import SystemSupport

extension FeedCommand {
  struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import",
      abstract: "Adds the feeds of an OPML file, with their titles and folders.",
      discussion: """
        mooring feed import subscriptions.opml --every 30m

        The folder of a feed is the path of the outlines around it. A feed that exists gets the \
        title, folder and categories of the file, and the settings that are given; everything else \
        of it stays. Feeds that are not in the file stay.

        A URL that cannot be a feed's, and one that the file repeats, is reported with its line, \
        and the others are added; the status is then 65. Outlines without a feed are counted. A \
        file that is no OPML, or has a document type, adds nothing.
        """)

    @OptionGroup var options: StoreOptions
    @Argument(help: "The OPML file; - is standard input.", completion: .file()) var file: String
    @OptionGroup var feedOptions: FeedSettingsOptions
    @Flag(
      inversion: .prefixedNo,
      help: "Whether each URL is requested first, and added only if it has a feed.")
    var check = false

    func run() async throws {
      let settings = try feedOptions.settings()
      let list = try FeedList(opml: file)
      try await list.add(
        to: try options.openOrCreate(), settings, isChecked: check, isQuiet: options.quiet)
    }
  }

  struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "export",
      abstract: "Writes the feeds as OPML 2.0, in their folders.",
      discussion: """
        mooring feed export feeds.opml

        The file has the whole URL of each feed, also what is secret in it. Intervals, mappings, \
        tokens and other settings are not in it: `mooring backup` keeps everything.
        """)

    @OptionGroup var options: StoreOptions
    @Argument(help: "The file; - or none is standard output.", completion: .file())
    var file: String?
    @Flag(help: "Replace the file if it exists.") var force = false

    func run() async throws {
      let feeds = try Feeds(try options.openToRead()).list().map { _, feed in
        OPMLDocument.Feed(
          url: feed.url, title: feed.shownTitle, folder: feed.folder ?? [],
          categories: feed.categories ?? [])
      }
      let writer = OPMLWriter(OPMLDocument(feeds: feeds))
      guard let file, file != "-" else {
        return try StandardOutput.with { output in try writer.write { try output.write($0) } }
      }
      let partial = try PartialFile(file, replaces: force)
      defer { partial.discard() }
      try StandardOutput.with(descriptor: partial.descriptor) { output in
        try writer.write { try output.write($0) }
      }
      try partial.finish()
      if !options.quiet {
        let count = Formatting.count(Int64(feeds.count))
        Message.say("exported \(count) \(feeds.count == 1 ? "feed" : "feeds") to \(file)")
      }
    }
  }
}
