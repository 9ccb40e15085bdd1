/// Holds every candidate's answers against those of the first: a time is worth nothing when the
/// answer is wrong.
struct CrossCheck {
  let candidates: [any Candidate]
  let workload: Workload

  /// Compares, field by field, the six lists (200 learning paths among them) and 10,000 random
  /// episodes, and the counts by type. Throws `mismatch` with the first difference.
  func run(after stage: String) throws {
    guard let first = candidates.first else { return }
    for other in candidates.dropFirst() {
      let pair = "\(first.name) and \(other.name) differ after \(stage)"
      let counts = try (first.countByType(), other.countByType())
      guard counts.0 == counts.1 else {
        throw BenchError(.mismatch, "\(pair): counts by type \(counts.0) and \(counts.1)")
      }
      for list in lists() {
        let episodes = try (first.episodes(list, limit: 64), other.episodes(list, limit: 64))
        guard episodes.0 == episodes.1 else {
          throw BenchError(
            .mismatch, "\(pair): \(list)\(difference(episodes.0, episodes.1))")
        }
      }
      for id in ids() {
        let episodes = try (first.episode(id: id), other.episode(id: id))
        guard episodes.0 == episodes.1 else {
          throw BenchError(
            .mismatch, "\(pair): \(id): \(describe(episodes.0)) and \(describe(episodes.1))")
        }
      }
    }
  }

  private func lists() -> [HomeList] {
    var random = SeededRandom(seed: workload.seed &+ 1)
    let paths = (0..<200).map { _ in
      HomeList.learningPath("lp:\(Int.random(in: 0..<workload.pathCount, using: &random))")
    }
    return [.recent, .favorites, .watchLater, .free, .histories] + paths
  }

  private func ids() -> [String] {
    var random = SeededRandom(seed: workload.seed &+ 2)
    return (0..<10_000).map { _ in "ep:\(Int.random(in: 0..<workload.count, using: &random))" }
  }

  private func difference(_ first: [Episode], _ other: [Episode]) -> String {
    guard first.count == other.count else { return ": \(first.count) and \(other.count) rows" }
    guard let pair = zip(first, other).enumerated().first(where: { $0.element.0 != $0.element.1 })
    else { return "" }
    let (row, episodes) = pair
    return ", row \(row): \(describe(episodes.0)) and \(describe(episodes.1))"
  }

  private func describe(_ episode: Episode?) -> String { episode.map { "\($0)" } ?? "none" }
}
