import GRDB

/// An episode as GRDB's users declare it for speed: columns read and written by hand.
struct EpisodeRecord: FetchableRecord, PersistableRecord {
  static let databaseTableName = "episode"

  var episode: Episode

  init(_ episode: Episode) { self.episode = episode }

  init(row: Row) {
    episode = Episode(
      id: row["id"], title: row["title"], summary: row["summary"], type: row["type"],
      duration: row["duration"], url: row["url"], pathID: row["pathID"],
      position: row["position"], publishedAt: row["publishedAt"], updatedAt: row["updatedAt"],
      favoriteAt: row["favoriteAt"], watchLaterAt: row["watchLaterAt"],
      watchedAt: row["watchedAt"], progress: row["progress"])
  }

  func encode(to container: inout PersistenceContainer) {
    container["id"] = episode.id
    container["title"] = episode.title
    container["summary"] = episode.summary
    container["type"] = episode.type
    container["duration"] = episode.duration
    container["url"] = episode.url
    container["pathID"] = episode.pathID
    container["position"] = episode.position
    container["publishedAt"] = episode.publishedAt
    container["updatedAt"] = episode.updatedAt
    container["favoriteAt"] = episode.favoriteAt
    container["watchLaterAt"] = episode.watchLaterAt
    container["watchedAt"] = episode.watchedAt
    container["progress"] = episode.progress
  }
}

/// Two columns of an episode.
struct CardRecord: FetchableRecord {
  let card: Card

  init(row: Row) { card = Card(title: row["title"], updatedAt: row["updatedAt"]) }
}
