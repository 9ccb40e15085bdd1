import Glibc

/// The seeded episodes as pages of the home feed (`homefeed/1`), in bytes.
struct FeedPages {
  /// The path of the first page. Each page contains the address of the next one.
  static let path = "/v1/home"

  let episodes: [Episode]
  let rowsPerPage: Int

  var count: Int { max(1, (episodes.count + rowsPerPage - 1) / rowsPerPage) }

  /// Returns the request target of a page. Pages are numbered from 0.
  func target(_ page: Int) -> String { page == 0 ? Self.path : "\(Self.path)?page=\(page)" }

  /// Returns the bytes of a page. There is no checkpoint, so a run fetches the whole listing or
  /// ends with status 304.
  ///
  /// - Parameter isLast: True to end the listing with this page; by default it ends with the last
  ///   episode.
  func body(_ page: Int, isLast: Bool? = nil) -> [UInt8] {
    let first = page * rowsPerPage
    let range = first..<min(first + rowsPerPage, episodes.count)
    let isLast = isLast ?? (page == count - 1)
    let items = range.map { item(episodes[$0], revision: $0 + 1) }
    let users = range.compactMap { user(episodes[$0], revision: $0 + 1) }
    let next = isLast ? "" : "\"next\":\(quoted(target(page + 1))),"
    return Array(
      """
      {"format":"homefeed/1","epoch":"bench","mode":"full","version":\(episodes.count),\
      "since":null,"title":"Home","entities":[\(items.joined(separator: ","))],\
      "user":[\(users.joined(separator: ","))],"page":{\(next)"index":\(page)}}
      """.utf8)
  }

  private func item(_ episode: Episode, revision: Int) -> String {
    var attributes = [
      "\"title\":\(quoted(episode.title))", "\"summary\":\(quoted(episode.summary))",
      "\"type\":\(episode.type)", "\"duration\":\(episode.duration)",
      "\"url\":\(quoted(episode.url))",
    ]
    if let path = episode.pathID, let position = episode.position {
      attributes += ["\"path\":\(quoted(path))", "\"position\":\(position)"]
    }
    attributes.append("\"publishedAt\":\(time(episode.publishedAt))")
    return """
      {"id":\(quoted(episode.id)),"kind":"Episode","rev":\(revision),\
      "updatedAt":\(time(episode.updatedAt)),"attrs":{\(attributes.joined(separator: ","))}}
      """
  }

  /// Returns the user's own values of an episode; nil if there are none.
  private func user(_ episode: Episode, revision: Int) -> String? {
    let dates = [
      ("favoriteAt", episode.favoriteAt), ("watchLaterAt", episode.watchLaterAt),
      ("watchedAt", episode.watchedAt),
    ]
    var values = dates.compactMap { name, date in date.map { "\"\(name)\":\(time($0))" } }
    guard !values.isEmpty else { return nil }
    if episode.progress > 0 { values.append("\"progress\":\(episode.progress)") }
    let list = values.joined(separator: ",")
    return "{\"id\":\(quoted(episode.id)),\"rev\":\(revision),\(list)}"
  }

  /// Returns a JSON string. The texts of the data set have no characters that need an escape.
  private func quoted(_ text: String) -> String { "\"\(text)\"" }

  private func time(_ date: Double) -> String { "\"\(FeedTime.text(date))\"" }
}

extension Episode {
  /// The episode with its times in whole seconds, as feeds have them.
  var inWholeSeconds: Episode {
    var episode = self
    episode.publishedAt = publishedAt.rounded(.down)
    episode.updatedAt = updatedAt.rounded(.down)
    episode.favoriteAt = favoriteAt?.rounded(.down)
    episode.watchLaterAt = watchLaterAt?.rounded(.down)
    episode.watchedAt = watchedAt?.rounded(.down)
    return episode
  }
}

/// The text form of the times of a feed.
enum FeedTime {
  private static let secondsFrom1970To2001 = 978_307_200.0

  /// Returns the text of a time in whole seconds since 2001, as in `2026-01-02T03:04:05Z`.
  static func text(_ date: Double) -> String {
    var seconds = time_t(date + secondsFrom1970To2001)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func digits(_ number: Int32, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let day = [(parts.tm_year + 1900, 4), (parts.tm_mon + 1, 2), (parts.tm_mday, 2)]
    let time = [(parts.tm_hour, 2), (parts.tm_min, 2), (parts.tm_sec, 2)]
    return day.map(digits).joined(separator: "-") + "T" + time.map(digits).joined(separator: ":")
      + "Z"
  }
}
