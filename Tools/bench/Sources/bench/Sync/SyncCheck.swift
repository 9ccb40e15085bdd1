/// Compares a copy of the feed with the episodes that the server sends.
struct SyncCheck {
  let episodes: [Episode]
  /// The number of rows that are compared field by field.
  var sampled = 2_000

  /// Compares the rows of each type, the sum of the durations and sampled rows.
  ///
  /// - Throws: `mismatch` with the first difference.
  func run(_ copy: any EpisodeReader) throws {
    let types = (1...3).map { type in episodes.count { $0.type == type } }
    try expect(types, try copy.countsByType(), "the rows of each type", copy)
    let sum = episodes.reduce(0) { $0 + $1.duration }
    try expect(sum, try copy.sumOfDurations(), "the sum of the durations", copy)
    for place in stride(from: 0, to: episodes.count, by: max(1, episodes.count / sampled)) {
      let episode = episodes[place]
      try expect(episode, try copy.episode(id: episode.id), episode.id, copy)
    }
  }

  private func expect<Answer: Equatable>(
    _ expected: Answer, _ found: Answer, _ what: String, _ copy: any EpisodeReader
  ) throws {
    guard expected != found else { return }
    throw BenchError(
      .mismatch, "after the sync, \(what): the feed \(expected), \(copy.name) \(found)")
  }
}
