extension Comparison {
  /// Measures gets by random ids, with all fields decoded.
  mutating func get() async throws {
    var random = SeededRandom(seed: workload.seed &+ 3)
    let ids = (0..<plan.repetitions(20_000)).map { _ in
      "ep:\(Int.random(in: 0..<workload.count, using: &random))"
    }
    reads.append(
      try await measureReads(
        .get, by: (any EpisodeStore).self, repetitions: ids.count, scale: 1e9
      ) { store in
        for id in ids where try !store.touchEpisode(id: id) {
          throw BenchError(.mismatch, "\(store.name) has no episode \(id)")
        }
      })
  }

  /// Measures the six lists and the first 1,000 rows of one of them, with all fields and with two.
  mutating func readLists() async throws {
    let lists = sixLists()
    var rows: [Measurement] = []
    var cards: [Measurement] = []
    for (title, lists) in lists {
      rows.append(try await read(.list(title), lists, limit: 20))
      cards.append(try await readCards(.cards(title), lists, limit: 20))
    }
    reads += [medians(of: rows, as: .lists)] + rows
    let allCards = medians(of: cards, as: .allCards)
    reads += [allCards] + cards
    var views: [Measurement] = []
    for (_, lists) in lists { views.append(try await view(.allCardsInPlace, lists, limit: 20)) }
    reads.append(medians(of: views, as: .allCardsInPlace).with(allCards, of: .raw))
    let thousand = Array(repeating: HomeList.recent, count: plan.repetitions(40))
    reads.append(try await read(.thousand, thousand, limit: 1000))
    let thousandCards = try await readCards(.thousandCards, thousand, limit: 1000)
    reads.append(thousandCards)
    reads.append(
      try await view(.thousandCardsInPlace, thousand, limit: 1000).with(thousandCards, of: .raw))
  }

  private func read(
    _ operation: Operation, _ lists: [HomeList], limit: Int
  ) async throws -> Measurement {
    try await measure(operation, lists) { (store: any EpisodeStore, list) in
      try store.touchEpisodes(list, limit: limit)
    }
  }

  private func readCards(
    _ operation: Operation, _ lists: [HomeList], limit: Int
  ) async throws -> Measurement {
    try await measure(operation, lists) { (store: any EpisodeStore, list) in
      try store.touchCards(list, limit: limit)
    }
  }

  /// Measures the candidates that can read two fields in place.
  private func view(
    _ operation: Operation, _ lists: [HomeList], limit: Int
  ) async throws -> Measurement {
    try await measure(operation, lists) { (store: any CardViewer, list) in
      try store.touchCardsInPlace(list, limit: limit)
    }
  }

  /// Measures the candidates of a type by reads of the lists, in microseconds for each.
  private func measure<Candidate>(
    _ operation: Operation, _ lists: [HomeList], _ read: (Candidate, HomeList) throws -> Int
  ) async throws -> Measurement {
    try await measureReads(
      operation, by: Candidate.self, repetitions: lists.count, scale: 1e6
    ) { store in
      for list in lists { _ = try read(store, list) }
    }
  }

  /// Returns each list, repeated so often that the clock can measure it. Each repetition of the
  /// learning path has another path.
  private func sixLists() -> [(title: String, lists: [HomeList])] {
    let count = plan.repetitions(500)
    var random = SeededRandom(seed: workload.seed)
    let paths = (0..<count).map { _ in
      HomeList.learningPath("lp:\(Int.random(in: 0..<workload.pathCount, using: &random))")
    }
    let five: [(String, HomeList)] = [
      ("recent", .recent), ("favorites", .favorites), ("watch later", .watchLater), ("free", .free),
      ("histories", .histories),
    ]
    return five.map { ($0, Array(repeating: $1, count: count)) } + [("learning path", paths)]
  }

  /// Returns the median of some operations in each round.
  private func medians(of parts: [Measurement], as operation: Operation) -> Measurement {
    var result = Measurement(operation)
    for candidate in stores.map(\.name) {
      let samples = parts.map { $0.samples[candidate] ?? [] }
      for round in 0..<(samples.map(\.count).min() ?? 0) {
        if let median = Summary(samples.map { $0[round] })?.median {
          result.add(median, of: candidate)
        }
      }
    }
    return result
  }
}

extension Comparison {
  /// Measures the scan and the aggregates, which read all rows or all entries of an index.
  mutating func readAggregates() async throws {
    var scan = try await aggregate(.scan) { _ = try $0.count(ScanFilter()) }
    // From microseconds to rows a second.
    scan.samples = scan.samples.mapValues { $0.map { Double(workload.count) * 1e6 / $0 } }
    reads.append(scan)
    reads.append(try await aggregate(.sum) { _ = try $0.sumOfDurations() })
    reads.append(try await aggregate(.count) { _ = try $0.count(type: freeType) })
    reads.append(try await aggregate(.group) { _ = try $0.countsByType() })
  }

  private func aggregate(
    _ operation: Operation, _ body: (any EpisodeStore) throws -> Void
  ) async throws -> Measurement {
    try await measureReads(operation, by: (any EpisodeStore).self, repetitions: 5, scale: 1e6) {
      for _ in 0..<5 { try body($0) }
    }
  }
}
