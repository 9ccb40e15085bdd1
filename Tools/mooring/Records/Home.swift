import ArgumentParser
import Console
import EntityModel
import EntityStore
import Foundation
import HomeFeed

struct Home: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "home",
    abstract: "Prints the home page: six lists, each read from an index.",
    discussion: """
      mooring home --limit 5
      """)

  @OptionGroup var options: StoreOptions
  @Option(help: "Rows of each list.") var limit = 5
  @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

  func validate() throws {
    guard limit >= 0 else { throw ValidationError("--limit cannot be negative") }
    try format.require(.table, .json)
  }

  func run() async throws {
    let page = try HomePage(try ContentStore(try options.openToRead()), limit: limit)
    try format.write(page) { try write(page, &$0) }
  }

  private func write(_ page: HomePage, _ output: inout StandardOutput) throws {
    let episodes: [(String, [HomePage.Row], String)] = [
      ("Recent updates", page.recentUpdates, "updated"),
      ("Favorites", page.favorites, "favorite since"),
      ("Watch later", page.watchLater, "marked"), ("Free", page.free, "updated"),
      ("Continue watching", page.histories, "watched"),
      ("Learning paths", page.learningPaths, "updated"),
    ]
    for (title, rows, date) in episodes {
      try output.write(title + "\n")
      if rows.isEmpty {
        try output.write("  none\n\n")
        continue
      }
      var table = TextTable([
        .init("  id"), .init("title"), .init(date),
        .init(title == "Learning paths" ? "episodes" : "progress", .number),
      ])
      for row in rows { table.append(["  " + row.id, row.title, row.date, row.detail]) }
      try output.write(table)
      try output.write("\n")
    }
    try output.write(page.cacheExists ? "Cached: yes\n" : "Cached: nothing yet\n")
  }
}

/// The output of `mooring home`.
private struct HomePage: Encodable {
  struct Row: Encodable {
    let id: String
    let title: String
    let date: String
    let detail: String
  }

  let cacheExists: Bool
  let recentUpdates: [Row]
  let favorites: [Row]
  let watchLater: [Row]
  let free: [Row]
  let histories: [Row]
  let learningPaths: [Row]

  init(_ content: ContentStore, limit: Int) throws {
    cacheExists = try content.cacheExist()
    recentUpdates = try content.loadRecentUpdates(count: limit)
      .map { HomePage.row($0, \.updatedAt) }
    favorites = try content.loadFavoriteEpisodes(count: limit)
      .map { HomePage.row($0, \.favoriteAt) }
    watchLater = try content.loadWatchLaterEpisodes(count: limit)
      .map { HomePage.row($0, \.watchLaterAt) }
    free = try content.loadFreeEpisodes(count: limit).map { HomePage.row($0, \.updatedAt) }
    histories = try content.loadWatchingHistories(count: limit)
      .map { HomePage.row($0, \.watchedAt) }
    learningPaths = try content.loadLearningPath(count: limit).map { path in
      Row(
        id: path.id, title: path.title ?? "(untitled)", date: HomePage.text(path.updatedAt),
        detail: String(try content.countEpisodes(of: path)))
    }
  }

  private static func row(_ episode: Episode, _ date: KeyPath<Episode, Date?>) -> Row {
    Row(
      id: episode.id, title: episode.title ?? "(untitled)", date: text(episode[keyPath: date]),
      detail: percent(episode.progress))
  }

  private static func percent(_ progress: Double) -> String {
    // Anything else is damage, and no number to count with.
    guard progress > 0, progress <= 1 else { return "" }
    return "\(Int((progress * 100).rounded())) %"
  }

  private static func text(_ date: Date?) -> String {
    date.map { Value.date($0.wholeSeconds).text } ?? ""
  }
}

extension Date {
  /// Fractions of a second are noise to a reader.
  fileprivate var wholeSeconds: Date {
    Date(timeIntervalSinceReferenceDate: timeIntervalSinceReferenceDate.rounded(.down))
  }
}
