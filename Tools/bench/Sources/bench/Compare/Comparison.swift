import Foundation

/// The number of repetitions of each operation.
struct Plan {
  let rounds: Int
  let loadRounds: Int
  /// The rows of one commit in the load in arrival order.
  var commitRows = 10_000
  /// True for a smoke run, which repeats each operation a few times only.
  var isQuick = false

  /// Returns how often to repeat a short operation that a full run repeats `count` times.
  func repetitions(_ count: Int) -> Int { isQuick ? max(1, count / 20) : count }
}

/// Runs the same operations on all candidates. Rounds are interleaved: every candidate completes a
/// round before any of them starts the next, so that a slow minute of the machine affects all.
struct Comparison {
  let stores: [any EpisodeStore]
  let workload: Workload
  let plan: Plan
  let scratch: ScratchFolder
  var reads: [Measurement] = []
  var writes: [Measurement] = []

  init(stores: [any EpisodeStore], workload: Workload, plan: Plan, scratch: ScratchFolder) {
    self.stores = stores
    self.workload = workload
    self.plan = plan
    self.scratch = scratch
  }

  /// Runs all operations. The answers of the candidates are compared after the load and after each
  /// kind of write.
  ///
  /// - Throws: `mismatch` if two candidates give different answers.
  mutating func run() async throws -> [Section] {
    let check = CrossCheck(
      stores: stores, workload: workload, randomEpisodes: plan.repetitions(10_000))
    try await load()
    try check.run(after: "the load")
    try await loadBeforeIndexes()
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

  /// Runs `turn` for each store, with another one first in each round: the disk may still be busy
  /// with a turn when the next one starts.
  func eachStore(
    _ operation: Operation, _ round: Int, _ turn: (any EpisodeStore) async throws -> Void
  ) async throws {
    announce(operation, round)
    for place in stores.indices {
      let store = stores[(place + round) % stores.count]
      // Otherwise the first flush of this candidate would include the pages of the last one.
      sync()
      try await turn(store)
    }
  }

  /// Measures `body`, which repeats a read `repetitions` times. Times are in units of which a
  /// second has `scale`. There is a first round that is not counted: it maps the pages, and how
  /// long that takes depends on what ran before.
  func measureReads<Reader>(
    _ operation: Operation, by kind: Reader.Type, repetitions: Int, scale: Double,
    _ body: (Reader) throws -> Void
  ) async throws -> Measurement {
    var measurement = Measurement(operation)
    for round in 0...plan.rounds {
      announce(operation, round)
      for store in stores {
        guard let reader = store as? Reader else { continue }
        let time = try await seconds { try body(reader) }
        guard round > 0 else { continue }
        measurement.add(time / Double(repetitions) * scale, of: store.name)
      }
    }
    return measurement
  }

  func announce(_ operation: Operation, _ round: Int) {
    guard round == 0 else { return }
    reportProgress("\(workload.count) rows: \(operation.name)")
  }
}
