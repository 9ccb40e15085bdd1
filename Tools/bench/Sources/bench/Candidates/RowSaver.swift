import CEpisodes

/// A store that is implemented in C.
protocol RowSaver: EpisodeStore {
  /// The rows that were read last.
  var found: EpisodeResult { get }

  /// Inserts or replaces rows by `id` in one durable commit.
  func upsert(_ rows: UnsafeBufferPointer<episode_row>) throws
}

extension RowSaver {
  func upsert(_ page: Rows) async throws { try upsert(page.forC) }

  func episode(id: String) throws -> Episode? {
    try touchEpisode(id: id) ? found.episodes.first : nil
  }

  func episodes(_ list: HomeList, limit: Int) throws -> [Episode] {
    _ = try touchEpisodes(list, limit: limit)
    return found.episodes
  }

  func cards(_ list: HomeList, limit: Int) throws -> [Card] {
    _ = try touchCards(list, limit: limit)
    return found.cards
  }
}
