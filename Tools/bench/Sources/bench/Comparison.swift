import Foundation

/// How often each operation is repeated.
struct Plan {
  let rounds: Int
  let loadRounds: Int
  /// Rows to a commit in the load in arrival order.
  var commitRows = 10_000
}

/// Drives all candidates through the same operations. Rounds are interleaved: every candidate does
/// its turn of a round before any begins the next, so that a slow minute of the machine falls on
/// all of them.
struct Comparison {
  let candidates: [any Candidate]
  let workload: Workload
  let plan: Plan
  let scratch: ScratchFolder
  private var measurements: [Measurement] = []

  init(
    candidates: [any Candidate], workload: Workload, plan: Plan, scratch: ScratchFolder
  ) {
    self.candidates = candidates
    self.workload = workload
    self.plan = plan
    self.scratch = scratch
  }

  /// Runs everything and returns the table; throws `mismatch` when candidates disagree. Stores are
  /// checked after the load, after the upserts and after the deletes.
  mutating func run() async throws -> Results {
    let check = CrossCheck(candidates: candidates, workload: workload)
    try await loadSorted()
    try await loadInArrivalOrder()
    try check.run(after: "the load")
    try await readPoints()
    try await readLists()
    try await countByType()
    try await upsertPages()
    try check.run(after: "the upserts")
    try await deleteOldest()
    try check.run(after: "the deletes")
    for candidate in candidates { try candidate.close() }
    return Results(
      rows: workload.count, seed: workload.seed, plan: plan,
      candidates: candidates.map(\.name), measurements: measurements)
  }

  private mutating func loadSorted() async throws {
    var speed = measurement("bulk load, sorted", "rows/s", .higher)
    var memory = measurement("  peak memory growth", "MB", .lower)
    var size = measurement("  file size", "MB", .lower)
    for round in 0..<plan.loadRounds {
      try await eachCandidate("bulk load, sorted", round) { index, candidate in
        guard let load = try await timedLoad(candidate, by: { try await candidate.sortedLoad($0) })
        else { return try candidate.close() }
        speed.samples[index].append(load.speed)
        memory.samples[index].append(load.peak)
        size.samples[index].append(megabytes(try candidate.fileSize()))
        try candidate.close()
      }
    }
    measurements += [speed, memory, size]
  }

  /// The stores of the last round stay open: all further operations run on them.
  private mutating func loadInArrivalOrder() async throws {
    var speed = measurement(
      "bulk load, \(plan.commitRows)-row commits", "rows/s", .higher)
    var memory = measurement("  peak memory growth", "MB", .lower)
    var size = measurement("  file size", "MB", .lower)
    for round in 0..<plan.loadRounds {
      try await eachCandidate("bulk load", round) { index, candidate in
        let load = try await timedLoad(candidate) {
          try await candidate.bulkLoad($0)
          return true
        }
        if let load {
          speed.samples[index].append(load.speed)
          memory.samples[index].append(load.peak)
        }
        size.samples[index].append(megabytes(try candidate.fileSize()))
        if round < plan.loadRounds - 1 { try candidate.close() }
      }
    }
    measurements += [speed, memory, size]
  }

  private mutating func readPoints() async throws {
    var random = SeededRandom(seed: workload.seed &+ 3)
    let ids = (0..<20_000).map { _ in "ep:\(Int.random(in: 0..<workload.count, using: &random))" }
    try await measureReads("get by string id", "ns", ids.count, scale: 1e9) { candidate in
      for id in ids where try !candidate.touchEpisode(id: id) {
        throw BenchError(.mismatch, "\(candidate.name) has no episode \(id)")
      }
    }
  }

  private mutating func readLists() async throws {
    for (title, lists) in listOperations() {
      try await measureReads(title, "us", lists.count, scale: 1e6) { candidate in
        for list in lists { _ = try candidate.touchEpisodes(list, limit: 20) }
      }
    }
  }

  /// Each list often enough for the clock; the learning path is another one every time.
  private func listOperations() -> [(title: String, lists: [HomeList])] {
    var random = SeededRandom(seed: workload.seed)
    let paths = (0..<500).map { _ in
      HomeList.learningPath("lp:\(Int.random(in: 0..<workload.pathCount, using: &random))")
    }
    return [
      ("recent 20", Array(repeating: .recent, count: 500)),
      ("favorites 20", Array(repeating: .favorites, count: 500)),
      ("watch later 20", Array(repeating: .watchLater, count: 500)),
      ("free 20", Array(repeating: .free, count: 500)),
      ("histories 20", Array(repeating: .histories, count: 500)),
      ("learning path 20", paths),
    ]
  }

  private mutating func countByType() async throws {
    try await measureReads("count by type", "us", 5, scale: 1e6) { candidate in
      for _ in 0..<5 { _ = try candidate.countByType() }
    }
  }

  /// Measures `body`, which reads the same `repetitions` times in every round. A first round is not
  /// counted: it brings the pages into the process, and there it depends on what ran before.
  private mutating func measureReads(
    _ title: String, _ unit: String, _ repetitions: Int, scale: Double,
    _ body: (any Candidate) throws -> Void
  ) async throws {
    var reads = measurement(title, unit, .lower)
    for round in 0...plan.rounds {
      try await eachCandidate(title, round) { index, candidate in
        let time = try await seconds { try body(candidate) }
        if round > 0 { reads.samples[index].append(time / Double(repetitions) * scale) }
      }
    }
    measurements.append(reads)
  }

  private mutating func upsertPages() async throws {
    try await upsertPages("upsert 100 random rows", .random, rows: 100, commits: 40)
    try await upsertPages("upsert 100 hot rows", .hot, rows: 100, commits: 40)
    try await upsertPages("upsert 1,000 random rows", .random, rows: 1000, commits: 5)
    var size = measurement("  file size after upserts", "MB", .lower)
    for (index, candidate) in candidates.enumerated() {
      size.samples[index].append(megabytes(try candidate.fileSize()))
    }
    measurements.append(size)
  }

  private mutating func upsertPages(
    _ title: String, _ kind: PageKind, rows: Int, commits: Int
  ) async throws {
    var upsert = measurement(title, "commits/s", .higher)
    for round in 0..<plan.rounds {
      let pages = try (0..<commits).map { _ in try workload.nextPage(kind, rows: rows) }
      try await eachCandidate(title, round) { index, candidate in
        let time = try await seconds {
          for page in pages { try await candidate.pageUpsert(page) }
        }
        upsert.samples[index].append(Double(commits) / time)
      }
    }
    measurements.append(upsert)
  }

  private mutating func deleteOldest() async throws {
    var delete = measurement("delete oldest 2 %", "rows/s", .higher)
    let count = workload.count / 50
    for round in 0..<plan.rounds {
      try await eachCandidate("delete oldest", round) { index, candidate in
        let time = try await seconds { try await candidate.deleteOldest(count) }
        delete.samples[index].append(Double(count) / time)
      }
    }
    measurements.append(delete)
  }

  /// Opens a fresh store, loads it and leaves it open; nil when the candidate has no such load.
  private func timedLoad(
    _ candidate: any Candidate, by load: (RowFeed) async throws -> Bool
  ) async throws -> (speed: Double, peak: Double)? {
    try candidate.prepare(in: scratch.emptyFolder(candidate.name))
    let feed = RowFeed(workload, chunk: plan.commitRows)
    var supported = false
    var time = 0.0
    let peak = try await peakMemoryGrowth {
      time = try await seconds { supported = try await load(feed) }
    }
    guard supported else { return nil }
    return (Double(workload.count) / (time - feed.ownTime.seconds), megabytes(peak))
  }

  private func eachCandidate(
    _ title: String, _ round: Int, _ turn: (Int, any Candidate) async throws -> Void
  ) async throws {
    if round == 0 { FileHandle.standardError.write(Data("bench: \(title)\n".utf8)) }
    for (index, candidate) in candidates.enumerated() {
      // What one candidate left for the disk is not to be paid by the next one's flush.
      sync()
      try await turn(index, candidate)
    }
  }

  private func measurement(
    _ operation: String, _ unit: String, _ better: Measurement.Better
  ) -> Measurement {
    Measurement(operation, unit, better: better, candidates: candidates.count)
  }
}

private func megabytes(_ bytes: Int) -> Double { Double(bytes) / 1e6 }
