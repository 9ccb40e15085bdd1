import Foundation
import GRDB

/// Prints the home page from an SQLite file with GRDB: the six lists of `mooring home`, by the same
/// queries.
///
///     grdb-home FILE
@main
enum GRDBHome {
  static func main() throws {
    guard CommandLine.arguments.count == 2 else {
      FileHandle.standardError.write(Data("usage: grdb-home FILE\n".utf8))
      exit(64)
    }
    var configuration = Configuration()
    configuration.readonly = true
    let queue = try DatabaseQueue(path: CommandLine.arguments[1], configuration: configuration)
    let page = try queue.read(HomePage.init)
    FileHandle.standardOutput.write(Data(page.text.utf8))
  }
}

private struct HomePage {
  let text: String

  init(_ database: Database) throws {
    var text = ""
    for list in EpisodeList.all {
      let lines = try EpisodeLine.fetchAll(
        database,
        sql: """
          SELECT id, title, \(list.date), progress FROM episode
          WHERE \(list.condition) ORDER BY \(list.date) DESC LIMIT 5
          """)
      text += "\(list.title)\n"
      text += lines.isEmpty ? "  none\n\n" : "  id  title  \(list.heading)  progress\n"
      for line in lines { text += "  \(line.id)  \(line.title)  \(line.date)  \(line.progress)\n" }
      if !lines.isEmpty { text += "\n" }
    }
    text += "Learning paths\n  id  title  updated  episodes\n"
    let paths = try Row.fetchAll(
      database, sql: "SELECT id, title, updatedAt FROM learningPath ORDER BY updatedAt DESC LIMIT 5"
    )
    for path in paths {
      let id: String = path[0]
      let title: String = path[1]
      let count = try Int.fetchOne(
        database,
        sql: "SELECT count(*) FROM episode WHERE pathID = ? AND position IS NOT NULL",
        arguments: [id])
      text += "  \(id)  \(title)  \(time(path[2]))  \(count ?? 0)\n"
    }
    self.text = text + "\nCached: yes\n"
  }
}

/// A list of episodes, newest date first.
private struct EpisodeList {
  let title: String
  let condition: String
  /// The column that the list is sorted by, and shows.
  let date: String
  let heading: String

  static let all = [
    EpisodeList(title: "Recent updates", condition: "TRUE", date: "updatedAt", heading: "updated"),
    EpisodeList(
      title: "Favorites", condition: "favoriteAt IS NOT NULL", date: "favoriteAt",
      heading: "favorite since"),
    EpisodeList(
      title: "Watch later", condition: "watchLaterAt IS NOT NULL", date: "watchLaterAt",
      heading: "marked"),
    EpisodeList(title: "Free", condition: "type = 1", date: "updatedAt", heading: "updated"),
    EpisodeList(
      title: "Continue watching", condition: "watchedAt IS NOT NULL AND progress <> 0",
      date: "watchedAt", heading: "watched"),
  ]
}

private struct EpisodeLine: FetchableRecord {
  let id: String
  let title: String
  let date: String
  let progress: String

  init(row: Row) {
    id = row[0]
    title = row[1]
    date = time(row[2])
    let share: Double = row[3]
    progress = share > 0 ? "\(Int((share * 100).rounded())) %" : ""
  }
}

private func time(_ seconds: Double) -> String {
  Date(timeIntervalSinceReferenceDate: seconds.rounded(.down)).ISO8601Format()
}
