/// The seeded episodes as pages of the home feed (`homefeed/1`): bytes, made once.
struct FeedPages {
  /// What a feed's client begins with; later pages name themselves.
  static let path = "/v1/home"

  let episodes: [Episode]
  let rowsPerPage: Int

  var count: Int { max(1, (episodes.count + rowsPerPage - 1) / rowsPerPage) }

  /// The target of a page, from 0.
  func target(_ page: Int) -> String { page == 0 ? Self.path : "\(Self.path)?page=\(page)" }

  /// No checkpoint: each run is of the whole listing, or ends with a 304.
  func body(_ page: Int) -> [UInt8] {
    let first = page * rowsPerPage
    let range = first..<min(first + rowsPerPage, episodes.count)
    let isLast = page == count - 1
    let items = range.map { item(episodes[$0], revision: $0 + 1) }
    let users = range.compactMap { user(episodes[$0], revision: $0 + 1) }
    let next = isLast ? "" : "\"next\":\(quoted(target(page + 1))),"
    return Array(
      """
      {"format":"homefeed/1","epoch":"bench","mode":"full","version":\(episodes.count),"since":null,\
      "title":"Home","entities":[\(items.joined(separator: ","))],\
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

  /// What is the person's own of an episode; nil if nothing is.
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

  /// The texts of the data set have nothing that JSON escapes.
  private func quoted(_ text: String) -> String { "\"\(text)\"" }

  private func time(_ date: Double) -> String { "\"\(FeedTime.text(date))\"" }
}

extension Episode {
  /// As a feed gives it, whose times are whole seconds.
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
