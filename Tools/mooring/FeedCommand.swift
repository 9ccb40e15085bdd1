import ArgumentParser
import Console
import EntityModel
import EntityStore
import FeedSync
import Foundation

struct FeedCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "feed", abstract: "The feeds of the store.",
    subcommands: [Add.self, List.self, Show.self, Remove.self, Pause.self, Resume.self])

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Adds a feed, or changes the settings of one.")

    @OptionGroup var options: StoreOptions
    @Argument(help: "An http or https URL of homefeed/1 or JSON Feed.") var url: String
    @Option(
      help: ArgumentHelp("Where items go that name no kind of their own.", valueName: "entity"))
    var into: String?
    @Option(help: ArgumentHelp("Time between scheduled runs, such as 15m.", valueName: "time"))
    var every: String?
    @Option(
      help: ArgumentHelp("A file whose first line is sent as a bearer token.", valueName: "file"))
    var tokenFile: String?

    func run() async throws {
      let settings = Feeds.Settings(
        entity: into, every: try every.map(interval),
        // A later sync may run in another folder.
        tokenFile: tokenFile.map { URL(fileURLWithPath: $0).path })
      let store = try options.openOrCreate()
      let isNew = try await Feeds(store).add(url, settings)
      if !options.quiet { Message.say(isNew ? "added the feed \(url)" : "changed the feed \(url)") }
    }

    private func interval(_ text: String) throws -> Duration {
      let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
      guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()),
        number > 0, number <= 10_000
      else { throw ValidationError("\"\(text)\" is no time; write 90s, 15m, 2h or 1d") }
      return .seconds(number * unit)
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists the feeds.")

    @OptionGroup var options: StoreOptions
    @Option(help: "table, json, jsonl or csv.") var format = OutputFormat.table

    func run() async throws {
      let store = try options.openToRead()
      let rows = try Feeds(store).list().map { FeedRow($0.id, $0.feed, store) }
      try StandardOutput.with { output in
        switch format {
        case .table: try output.write(FeedRow.table(rows))
        case .json: try output.write(try JSONText.of(rows) + "\n")
        case .jsonl: for row in rows { try output.write(try JSONText.of(row) + "\n") }
        case .csv:
          try output.writeCSV(["number", "url", "format", "state", "asked", "changed"])
          for row in rows { try output.writeCSV(row.cells) }
        }
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Everything known of one feed.")

    @OptionGroup var options: StoreOptions
    @Argument(help: "The feed's URL or number.") var feed: String

    func run() async throws {
      let store = try options.openToRead()
      let (id, _) = try Feeds(store).find(feed)
      let record = try store.read { try $0.get(ObjectID(entity: Feed.entityName, number: id)) }
      var table = TextTable([.init("attribute"), .init("value")])
      for (name, value) in record?.fields ?? [] { table.append([name, value.text]) }
      try StandardOutput.with { try $0.write(table) }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Stops following a feed. Its records stay, and are found when it is added again.")

    @OptionGroup var options: StoreOptions
    @Argument(help: "The feed's URL or number.") var feed: String

    func run() async throws {
      try await change(feed, options) { $0.isRemoved = true }
    }
  }

  struct Pause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Leaves a feed out of syncs.")

    @OptionGroup var options: StoreOptions
    @Argument(help: "The feed's URL or number.") var feed: String

    func run() async throws {
      try await change(feed, options) { $0.isPaused = true }
    }
  }

  struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Takes a paused feed up again.")

    @OptionGroup var options: StoreOptions
    @Argument(help: "The feed's URL or number.") var feed: String

    func run() async throws {
      try await change(feed, options) {
        $0.isPaused = false
        $0.waitUntil = nil
      }
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

  init(_ id: Int64, _ feed: Feed, _ store: Store) {
    number = id
    url = feed.url
    format = feed.format
    state =
      feed.isPaused ? "paused" : (feed.errors > 0 ? "failing (\(feed.errors))" : "active")
    askedAt = Feeds.lastRun(of: id, in: store)
    changedAt = feed.changedAt
    lastError = feed.lastError
  }

  var cells: [String] {
    [
      String(number), url, format ?? "", state, askedAt.map { Value.date($0).text } ?? "",
      changedAt.map { Value.date($0).text } ?? "",
    ]
  }

  static func table(_ rows: [FeedRow]) -> TextTable {
    var table = TextTable([
      .init("number", .number), .init("url"), .init("format"), .init("state"), .init("asked"),
      .init("changed"),
    ])
    for row in rows { table.append(row.cells) }
    return table
  }
}
