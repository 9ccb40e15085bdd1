import Foundation

/// Runs the same syncs on all candidates: into an empty copy, then with nothing new.
struct SyncRounds {
  let candidates: [any SyncCandidate]
  /// The episodes that the server sends, in the order of the feed.
  let episodes: [Episode]
  let feed: String
  let rounds: Int
  let polls: Int
  let scratch: ScratchFolder

  /// The measurements of one sync.
  private struct Sample {
    let rowsPerSecond: Double
    let processorSeconds: Double
    let rowsPerCommit: Int
  }

  /// Measures all candidates. Rounds are interleaved, and each one begins with another candidate.
  /// The first one begins with Mooring, whose commit size is then used for the others.
  ///
  /// - Throws: `mismatch` if a copy differs from the feed.
  func run() async throws -> [Measurement] {
    var rowsPerCommit = 1_000
    var full: [CandidateName: [Double]] = [:]
    var processor = Measurement(.fullSyncProcessor)
    var own = Measurement(.fullSyncAsQuickest)
    var again = Measurement(.syncAgain)
    var poll = Measurement(.poll)
    var puts = Measurement(.putsBesideSync)
    for round in 0..<rounds {
      reportProgress("sync: round \(round + 1) of \(rounds)")
      for place in candidates.indices {
        let candidate = candidates[(place + round) % candidates.count]
        try await open(candidate)
        let turn = SyncTurn(rowsPerCommit: rowsPerCommit)
        let first = try await measure(candidate, turn)
        full[candidate.name, default: []].append(first.rowsPerSecond)
        processor.add(first.processorSeconds, of: candidate.name)
        again.add(try await measure(candidate, turn).rowsPerSecond, of: candidate.name)
        poll.add(try await medianPoll(of: candidate) * 1e3, of: candidate.name)
        try candidate.close()
        if candidate.name == .mooring {
          rowsPerCommit = first.rowsPerCommit
          reportProgress("sync: commits of \(counted(rowsPerCommit, "rows"))")
          own.add(first.rowsPerSecond, of: candidate.name)
          try await putsBesideSync().map { puts.add($0, of: candidate.name) }
          continue
        }
        try await open(candidate)
        own.add(try await measure(candidate, SyncTurn()).rowsPerSecond, of: candidate.name)
        try candidate.close()
      }
    }
    return [Measurement(.fullSync, samples: full), processor, own, again, poll, puts]
  }

  /// Returns the 99th percentile, in milliseconds, of single durable puts that another process
  /// makes while a full sync fills the store; nil if the sync has ended before the first put.
  private func putsBesideSync() async throws -> Double? {
    sync()
    let folder = try scratch.emptyFolder("sync-puts")
    let candidate = MooringSync()
    try await candidate.open(in: folder, feed: feed)
    try await candidate.insertOwnEpisodes(PutLoop.rows)
    var outcome = SyncOutcome.notModified
    let puts = try await PutLoop.latencies(in: folder) {
      outcome = try await candidate.sync(SyncTurn())
    }
    try candidate.close()
    guard case .synced(episodes.count, _) = outcome else {
      throw BenchError(
        .mismatch, "beside puts: \(outcome) of \(episodes.count) rows of the feed")
    }
    return puts.isEmpty ? nil : puts.at(0.99)
  }

  private func open(_ candidate: any SyncCandidate) async throws {
    // Otherwise the first flush of this candidate would include the pages of the last one.
    sync()
    try await candidate.open(
      in: scratch.emptyFolder("sync-\(candidate.name.rawValue)"), feed: feed)
  }

  /// Measures a sync of all pages and checks the copy.
  private func measure(
    _ candidate: any SyncCandidate, _ turn: SyncTurn
  ) async throws -> Sample {
    var outcome = SyncOutcome.notModified
    let processorBefore = processorSeconds()
    let time = try await seconds { outcome = try await candidate.sync(turn) }
    let processor = processorSeconds() - processorBefore
    guard case .synced(episodes.count, let commits) = outcome, commits > 0 else {
      throw BenchError(
        .mismatch, "\(candidate.name): \(outcome) of \(episodes.count) rows of the feed")
    }
    try SyncCheck(episodes: episodes).run(candidate.copy)
    return Sample(
      rowsPerSecond: Double(episodes.count) / time, processorSeconds: processor,
      rowsPerCommit: (episodes.count + commits - 1) / commits)
  }

  private func medianPoll(of candidate: any SyncCandidate) async throws -> Double {
    var times: [Double] = []
    for _ in 0..<polls {
      var outcome = SyncOutcome.notModified
      times.append(
        try await seconds { outcome = try await candidate.sync(SyncTurn(isFull: false)) })
      guard outcome == .notModified else {
        throw BenchError(.mismatch, "\(candidate.name): fetched pages although nothing has changed")
      }
    }
    return Summary(times)?.median ?? .nan
  }
}

/// Returns the processor time of all threads of this process, including that in the kernel.
private func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

extension Operation {
  static let fullSync = Operation(
    "full sync, commits of equal size", "rows/s", .higher, .notSlower)
  static let fullSyncProcessor = Operation("  processor time", "s", .lower, .atLeast(1, .sqlite))
  static let fullSyncAsQuickest = Operation("full sync, commits as each likes", "rows/s", .higher)
  static let syncAgain = Operation(
    "sync again, all pages, nothing new", "rows/s", .higher, .notSlower)
  static let poll = Operation("sync again, 304", "ms")
  static let putsBesideSync = Operation(
    "another process's put beside a full sync, p99", "ms", .lower, .atMostItself(60))
}
