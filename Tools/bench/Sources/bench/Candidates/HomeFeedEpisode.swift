import Foundation
import Mooring

// Conversions between the episode of the data set and that of the home feed.

extension Episode {
  /// Converts an episode of a feed whose items have all attributes.
  init(_ episode: HomeFeed.Episode) {
    self.init(
      id: episode.id, title: episode.title ?? "", summary: episode.summary ?? "",
      type: Int(episode.type?.rawValue ?? 0), duration: Int(episode.duration ?? -1),
      url: episode.url?.absoluteString ?? "", pathID: episode.pathID,
      position: episode.position.map(Int.init),
      publishedAt: episode.publishedAt?.timeIntervalSinceReferenceDate ?? .nan,
      updatedAt: episode.updatedAt?.timeIntervalSinceReferenceDate ?? .nan,
      favoriteAt: episode.favoriteAt?.timeIntervalSinceReferenceDate,
      watchLaterAt: episode.watchLaterAt?.timeIntervalSinceReferenceDate,
      watchedAt: episode.watchedAt?.timeIntervalSinceReferenceDate, progress: episode.progress)
  }
}

extension HomeFeed.Episode {
  init(_ episode: bench.Episode, feedID: Int64) {
    self.init(id: episode.id, title: episode.title)
    summary = episode.summary
    type = EpisodeType(rawValue: Int64(episode.type))
    duration = Int64(episode.duration)
    url = URL(string: episode.url)
    pathID = episode.pathID
    position = episode.position.map(Int64.init)
    publishedAt = Date(timeIntervalSinceReferenceDate: episode.publishedAt)
    updatedAt = Date(timeIntervalSinceReferenceDate: episode.updatedAt)
    favoriteAt = episode.favoriteAt.map(Date.init(timeIntervalSinceReferenceDate:))
    watchLaterAt = episode.watchLaterAt.map(Date.init(timeIntervalSinceReferenceDate:))
    watchedAt = episode.watchedAt.map(Date.init(timeIntervalSinceReferenceDate:))
    progress = episode.progress
    self.feedID = feedID
  }
}
