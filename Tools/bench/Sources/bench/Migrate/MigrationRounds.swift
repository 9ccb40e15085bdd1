import Dispatch
import Foundation
import Mooring
import Synchronization

/// Migrates a store of Mooring in rounds. Raw LMDB builds the same indexes.
struct MigrationRounds {
  let workload: Workload
  let rounds: Int
  /// The time for which a reader without a concurrent migration is measured.
  let idle: Duration
  let scratch: ScratchFolder
  private var results = Measurements()
  /// The number of migrations after the first one. Each has one step.
  private var version = 0

  init(workload: Workload, rounds: Int, idle: Duration, scratch: ScratchFolder) {
    self.workload = workload
    self.rounds = rounds
    self.idle = idle
    self.scratch = scratch
  }

  mutating func run() async throws -> [Measurement] {
    let raw = try RawLMDBCandidate()
    try raw.open(in: scratch.emptyFolder("raw"))
    try raw.sortedLoad(workload)
    let folder = try scratch.emptyFolder("mooring")
    let mooring = MooringCandidate()
    try mooring.open(in: folder)
    try await mooring.bulkLoad(RowFeed(workload, chunk: 10_000))
    for round in 1...rounds {
      reportProgress("migrations: round \(round) of \(rounds)")
      try addAttribute(folder)
      let added = version
      try await buildAlone(raw, mooring, folder)
      try await buildBesideReader(raw, mooring, folder)
      try await buildBesideWriter(folder)
      version += 1
      let retype = "retypeAttribute: { on: Episode, name: extra\(added), type: string }"
      results.add(try migrate(folder, retype), to: .retype, of: .mooring)
    }
    return results.all
  }

  private mutating func addAttribute(_ folder: URL) throws {
    version += 1
    let step = "addAttribute: { to: Episode, name: extra\(version), type: int64, default: 3 }"
    results.add(try migrate(folder, step) * 1_000, to: .addAttribute, of: .mooring)
  }

  private mutating func buildAlone(
    _ raw: RawLMDBCandidate, _ mooring: MooringCandidate, _ folder: URL
  ) async throws {
    let size = try mooring.fileSize()
    let time = try await seconds { try raw.buildIndex(rows: workload.count) }
    results.add(time, to: .buildIndex, of: .raw)
    version += 1
    let watch = try migrateWatched(folder, index)
    results.add(watch.seconds, to: .buildIndex, of: .mooring)
    results.add(Double(watch.bytes) / Double(size), to: .filesWhileBuilding, of: .mooring)
  }

  private mutating func buildBesideReader(
    _ raw: RawLMDBCandidate, _ mooring: MooringCandidate, _ folder: URL
  ) async throws {
    let ids = workload.rows(0..<min(workload.count, 100_000)).episodes.map(\.id)
    let pause = idle
    let rawIdle = try await latencies(of: raw, ids) { Thread.sleep(forTimeInterval: pause.seconds) }
    let rawBusy = try await latencies(of: raw, ids) { try raw.buildIndex(rows: workload.count) }
    let ownIdle = try await latencies(of: mooring, ids) {
      Thread.sleep(forTimeInterval: pause.seconds)
    }
    version += 1
    let step = index
    let ownBusy = try await latencies(of: mooring, ids) { _ = try migrate(folder, step) }
    results.add(rawIdle.at(0.99) * 1e6, to: .getIdle, of: .raw)
    results.add(ownIdle.at(0.99) * 1e6, to: .getIdle, of: .mooring)
    results.add(rawBusy.at(0.99) * 1e6, to: .getWhileBuilding, of: .raw)
    results.add(ownBusy.at(0.99) * 1e6, to: .getWhileBuilding, of: .mooring)
  }

  private mutating func buildBesideWriter(_ folder: URL) async throws {
    version += 1
    let step = index
    let puts = try await PutLoop.latencies(in: folder) { _ = try migrate(folder, step) }
    // A short build may end before the first put does.
    guard !puts.isEmpty else { return }
    results.add(puts.at(0.5), to: .putMedian, of: .mooring)
    results.add(puts.at(0.99), to: .putTail, of: .mooring)
    results.add(puts.longest, to: .putLongest, of: .mooring)
  }

  private var index: String {
    "createIndex: { on: Episode, name: extra\(version), keys: [duration, updatedAt] }"
  }

  /// Runs a migration with one step and returns its seconds.
  private func migrate(_ folder: URL, _ step: String) throws -> Double {
    try migrateWatched(folder, step).seconds
  }

  private func migrateWatched(
    _ folder: URL, _ step: String
  ) throws -> (seconds: Double, bytes: Int) {
    let store = try openStore(folder, step)
    let largest = Mutex(0)
    var options = MigrationOptions()
    options.progress = { _ in
      let bytes = (try? sizeOfFiles(in: folder)) ?? 0
      let scratch = (try? sizeOfFiles(in: folder.appending(path: "scratch"))) ?? 0
      largest.withLock { $0 = max($0, bytes + scratch) }
    }
    let start = ContinuousClock.now
    let report = try store.migrate(options)
    let time = (ContinuousClock.now - start).seconds
    guard report.migrations.count == 1 else {
      throw BenchError(.candidate, "no migration was applied")
    }
    return (time, largest.withLock { $0 })
  }

  /// Opens the store with one more migration line, which has one step.
  private func openStore(_ folder: URL, _ step: String) throws -> Store {
    var options = Store.Options()
    options.mapSize = 8 << 30
    let file = "line: step\(version)\nsummary: s\nrequires: [bench@1]\nsteps:\n  - \(step)\n"
    return try Store.open(
      at: folder.path,
      migrations: [
        MigrationSource(embedded: [("0001_bench", Array(episodeMigration.utf8))]),
        MigrationSource(embedded: [("0001_step", Array(file.utf8))]),
      ], options: options)
  }

  /// Returns the seconds of gets by id that another thread makes while the body runs.
  private func latencies(
    of candidate: any EpisodeStore, _ ids: [String], during body: () throws -> Void
  ) async throws -> Percentiles {
    // SAFETY: a candidate reads from any one thread at a time; this one reads alone.
    nonisolated(unsafe) let candidate = candidate
    let place = Atomic(0)
    let reader = LatencyReader {
      let next = place.add(7_919, ordering: .relaxed).newValue % ids.count
      guard try candidate.touchEpisode(id: ids[next]) else {
        throw BenchError(.mismatch, "\(candidate.name) has no episode \(ids[next])")
      }
    }
    let result = Result { try body() }
    let times = try reader.stop()
    try result.get()
    return times
  }
}
