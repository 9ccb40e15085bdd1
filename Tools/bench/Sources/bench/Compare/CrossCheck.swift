/// Compares the answers of every candidate with those of the first one.
struct CrossCheck {
  let stores: [any EpisodeStore]
  let workload: Workload
  var randomEpisodes = 10_000

  /// Compares the six lists, with 200 learning paths, and the first 1,000 rows of one of them, each
  /// with all fields and with two; random episodes; and all aggregates.
  ///
  /// - Throws: `mismatch` with the first difference.
  func run(after stage: String) throws {
    guard let first = stores.first else { return }
    for other in stores.dropFirst() {
      func compare<Answer: Equatable>(
        _ question: String, _ answer: (any EpisodeStore) throws -> Answer
      ) throws {
        let answers = try (answer(first), answer(other))
        guard answers.0 != answers.1 else { return }
        throw difference(
          question, stage, (first, describe(answers.0)), (other, describe(answers.1)))
      }
      try compare("the scan") { try $0.count(ScanFilter()) }
      try compare("the sum") { try $0.sumOfDurations() }
      try compare("the count") { try $0.count(type: freeType) }
      try compare("the groups") { try $0.countsByType() }
      for (list, limit) in lists() {
        try compare("\(list)") { try $0.episodes(list, limit: limit) }
      }
      for id in ids() { try compare(id) { try $0.episode(id: id) } }
    }
    try compareCards(with: first, stage)
  }

  /// Compares the reads of two fields, copied and in place, with those of all fields.
  private func compareCards(with first: any EpisodeStore, _ stage: String) throws {
    for other in stores {
      for (list, limit) in lists() {
        let expected = try first.episodes(list, limit: limit).map {
          Card(title: $0.title, updatedAt: $0.updatedAt)
        }
        let viewed = try (other as? any CardViewer)?.cardsInPlace(list, limit: limit)
        for cards in [try other.cards(list, limit: limit), viewed ?? expected]
        where cards != expected {
          throw difference(
            "two fields of \(list)", stage, (first, describe(expected)), (other, describe(cards)))
        }
      }
    }
  }

  private func lists() -> [(HomeList, limit: Int)] {
    var random = SeededRandom(seed: workload.seed &+ 1)
    let paths = (0..<200).map { _ in
      HomeList.learningPath("lp:\(Int.random(in: 0..<workload.pathCount, using: &random))")
    }
    let lists: [HomeList] = [.recent, .favorites, .watchLater, .free, .histories] + paths
    return [(.recent, limit: 1000)] + lists.map { ($0, limit: 64) }
  }

  private func ids() -> [String] {
    var random = SeededRandom(seed: workload.seed &+ 2)
    return (0..<randomEpisodes).map { _ in
      "ep:\(Int.random(in: 0..<workload.count, using: &random))"
    }
  }

  private func difference(
    _ question: String, _ stage: String, _ first: (any Candidate, String),
    _ other: (any Candidate, String)
  ) -> BenchError {
    BenchError(
      .mismatch,
      "after \(stage), \(question): \(first.0.name) \(first.1), \(other.0.name) \(other.1)")
  }

  private func describe(_ answer: some Any) -> String { String("\(answer)".prefix(400)) }
}
