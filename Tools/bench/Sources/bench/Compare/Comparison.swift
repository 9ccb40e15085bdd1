import Foundation

/// How often each operation is repeated.
struct Plan {
  let rounds: Int
  let loadRounds: Int
  /// Rows to a commit in the load in arrival order.
  var commitRows = 10_000
  /// A smoke run: every operation, a few times.
  var isQuick = false

  /// Of so many repetitions of a short operation, how many there are.
  func repetitions(_ count: Int) -> Int { isQuick ? max(1, count / 20) : count }
}

/// Drives all candidates through the same operations. Rounds are interleaved: every candidate does
/// its turn of a round before any begins the next, so that a slow minute of the machine falls on
/// all of them.
struct Comparison {
  let candidates: [any Candidate]
  let workload: Workload
  let plan: Plan
  let scratch: ScratchFolder
  var reads: [Measurement] = []
  var writes: [Measurement] = []

  init(candidates: [any Candidate], workload: Workload, plan: Plan, scratch: ScratchFolder) {
    self.candidates = candidates
    self.workload = workload
    self.plan = plan
    self.scratch = scratch
  }

  var stores: [any EpisodeStore] { candidates.compactMap { $0 as? any EpisodeStore } }

  /// Runs everything and returns what it took; throws `mismatch` when candidates disagree. Answers
  /// are compared after the load and after each kind of write.
  mutating func run() async throws -> [Section] {
    let check = CrossCheck(
      candidates: candidates, workload: workload, randomEpisodes: plan.repetitions(10_000))
    try await load()
    try check.run(after: "the load")
    try await get()
    try await readLists()
    try await readAggregates()
    try await openCold()
    try await upsertPages()
    try check.run(after: "the upserts")
    try await writeTiny()
    try await readBesideWriter()
    try check.run(after: "single writes")
    try await updateBatches()
    try check.run(after: "the batch updates")
    try await deleteBatches()
    try check.run(after: "the batch deletes")
    for store in stores { try store.close() }
    let scope = "\(counted(workload.count, "episodes")), seed \(workload.seed), "
    return [
      Section(
        title: "reads", scope: scope + counted(plan.rounds, "rounds"), rows: workload.count,
        measurements: reads),
      Section(
        title: "writes",
        scope: scope + "\(counted(plan.rounds, "rounds")), \(plan.loadRounds) of the loads",
        rows: workload.count, measurements: writes),
    ]
  }

  /// Each candidate's turn of a round. Another one begins each round: what a turn has left for the
  /// disk to do may slow the next one.
  func eachStore(
    _ operation: Operation, _ round: Int, _ turn: (any EpisodeStore) async throws -> Void
  ) async throws {
    announce(operation, round)
    let stores = stores
    for place in stores.indices {
      let store = stores[(place + round) % stores.count]
      // What one candidate left for the disk is not to be paid by the next one's flush.
      sync()
      try await turn(store)
    }
  }

  /// Measures `body`, which reads the same `repetitions` times in every round, in units of which a
  /// second has `scale`. A first round is not counted: it brings the pages into the process, and
  /// there it depends on what ran before.
  func measureReads<Reader>(
    _ operation: Operation, by kind: Reader.Type, repetitions: Int, scale: Double,
    _ body: (Reader) throws -> Void
  ) async throws -> Measurement {
    var measurement = Measurement(operation)
    for round in 0...plan.rounds {
      announce(operation, round)
      for candidate in candidates {
        guard let reader = candidate as? Reader else { continue }
        let time = try await seconds { try body(reader) }
        guard round > 0 else { continue }
        measurement.add(time / Double(repetitions) * scale, of: candidate.name)
      }
    }
    return measurement
  }

  private func announce(_ operation: Operation, _ round: Int) {
    guard round == 0 else { return }
    note("\(workload.count) rows: \(operation.name)")
  }
}
