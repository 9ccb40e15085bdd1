import ArgumentParser
import Console
import EntityModel
import EntityStore
import FeedDocuments
import FeedSync
import Foundation
import HTTPClient

struct FeedCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "feed", abstract: "Lists, adds and changes the feeds of the store.",
    subcommands: [
      Add.self, Import.self, Export.self, Inspect.self, List.self, Show.self, Mapping.self,
      Remove.self, Pause.self, Resume.self,
    ])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "Lists the feeds.",
      discussion: """
        mooring feed list --format json
        """)

    @OptionGroup var options: StoreOptions
    @Option(help: OutputFormat.allHelp) var format = OutputFormat.table

    func run() async throws {
      let store = try options.openToRead()
      let rows = try Feeds(store).list().map { FeedRow($0.id, $0.feed, store) }
      try StandardOutput.with { output in
        try output.write(
          rows, as: format, table: FeedRow.table(rows), titles: FeedRow.titles
        ) { $0.cells }
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Shows one feed in full.",
      discussion: """
        mooring feed show https://example.org/feed.xml
        """)

    @OptionGroup var options: StoreOptions
    @Argument(help: "The feed's URL or number.", completion: .feed) var feed: String

    @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

    func validate() throws { try format.require(.table, .json) }

    func run() async throws {
      let store = try options.openToRead()
      let (id, feed) = try Feeds(store).find(feed)
      try FeedDetails(id, feed, store).write(format)
    }
  }

  struct Mapping: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "mapping",
      abstract: "Prints the mapping of a feed.",
      discussion: """
        mooring feed mapping https://example.org/feed.xml
        """)

    @OptionGroup var options: StoreOptions
    @Argument(help: "The feed's URL or number.", completion: .feed) var feed: String

    func run() async throws {
      let (_, feed) = try Feeds(try options.openToRead()).find(feed)
      guard let mapping = feed.effectiveMapping else {
        throw CommandError(
          .unavailable,
          feed.format == nil
            ? "the feed has no mapping of its own, and has not been synced yet"
            : "the feed is read as \(feed.format ?? ""), without a mapping")
      }
      try StandardOutput.with { try $0.write(mapping.fullText) }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove",
      abstract: "Removes a feed. Its records stay and are reused if it is added again.",
      discussion: """
        mooring feed remove https://example.org/feed.xml
        """)

    @OptionGroup var options: StoreOptions
    @Argument(help: "The feed's URL or number.", completion: .feed) var feed: String

    func run() async throws {
      try await change(feed, options) { $0.isRemoved = true }
    }
  }

  struct Pause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "pause", abstract: "Pauses a feed: syncs skip it.",
      discussion: """
        mooring feed pause https://example.org/feed.xml
        """)

    @OptionGroup var options: StoreOptions
    @Argument(help: "The feed's URL or number.", completion: .feed) var feed: String

    func run() async throws {
      try await change(feed, options) { $0.isPaused = true }
    }
  }

  struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "resume",
      abstract: "Resumes a feed that is paused or gone.",
      discussion: """
        mooring feed resume https://example.org/feed.xml
        """)

    @OptionGroup var options: StoreOptions
    @Argument(help: "The feed's URL or number.", completion: .feed) var feed: String

    func run() async throws {
      let feeds = Feeds(try options.open())
      try await feeds.resume(try feeds.find(feed).id)
    }
  }

  private static func change(
    _ name: String, _ options: StoreOptions,
    _ change: @escaping @Sendable (inout Feed) -> Void
  ) async throws {
    let feeds = Feeds(try options.open())
    try await feeds.update(try feeds.find(name).id, change)
  }
}

/// One line of `mooring feed list`.
private struct FeedRow: Encodable {
  let number: Int64
  let url: String
  let format: String?
  let state: String
  let askedAt: Date?
  let changedAt: Date?
  let lastError: String?
  let title: String?
  let folder: [String]?

  init(_ id: Int64, _ feed: Feed, _ store: Store) {
    number = id
    url = shownURL(feed.url)
    format = feed.format
    state = feed.state
    askedAt = Feeds(store).lastRun(of: id)?.at
    changedAt = feed.changedAt
    lastError = feed.lastError
    title = feed.shownTitle
    folder = feed.folder
  }

  var cells: [String] {
    [
      String(number), url, format ?? "", Feed.stateText(state, lastError),
      askedAt.map { Value.date($0).text } ?? "", changedAt.map { Value.date($0).text } ?? "",
      title ?? "",
    ]
  }

  static let titles = ["number", "url", "format", "state", "asked", "changed", "title"]

  static func table(_ rows: [FeedRow]) -> TextTable {
    let kinds: [TextTable.Column.Kind] = [.number, .whole, .text, .text, .whole, .whole, .text]
    var table = TextTable(zip(titles, kinds).map { .init($0, $1) })
    for row in rows { table.append(row.shownCells) }
    return table
  }

  /// The cells of a line that people read: times in minutes, and no long titles.
  private var shownCells: [String] {
    func minute(_ date: Date?) -> String { date.map { Value.date($0).text.prefix(16) + "Z" } ?? "" }
    var cells = cells
    cells[4...6] = [
      minute(askedAt), minute(changedAt), (title ?? "").truncated(toWidth: Self.titleWidthMax),
    ]
    return cells
  }

  private static let titleWidthMax = 40
}

extension Feed {
  /// One word, and how often it has failed.
  var state: String {
    if isPaused { return goneAt == nil ? "paused" : "gone" }
    return errors > 0 ? "failing (\(errors))" : "active"
  }

  /// Returns the state, of a failing feed with the last error without its details.
  static func stateText(_ state: String, _ lastError: String?) -> String {
    guard state.hasPrefix("failing"), let lastError else { return state }
    let end = [" (", ": ", "; "].compactMap { lastError.firstRange(of: $0)?.lowerBound }.min()
    return "\(state): \(lastError[..<(end ?? lastError.endIndex)])"
  }
}
