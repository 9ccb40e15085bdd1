import Foundation

/// Drives all candidates through the same job: an empty copy is filled, then nothing has changed.
struct SyncRounds {
  let candidates: [any SyncCandidate]
  /// What the server gives, in its order.
  let episodes: [Episode]
  let feed: String
  let rounds: Int
  let polls: Int
  let scratch: ScratchFolder

  /// What a sync has taken.
  private struct Sample {
    let rowsPerSecond: Double
    let processorSeconds: Double
    let rowsPerCommit: Int
  }

  /// Rounds are interleaved, and each begins with another candidate, the first one with Mooring:
  /// its commits have a size of their own, which is then the others', too.
  ///
  /// - Throws: `mismatch` when a copy is not as the feed is.
  func run() async throws -> [Measurement] {
    var rowsPerCommit = 1_000
    var full: [CandidateName: [Double]] = [:]
    var processor = Measurement(.fullSyncProcessor)
    var own = Measurement(.fullSyncAsQuickest)
    var again = Measurement(.syncAgain)
    var poll = Measurement(.poll)
    for round in 0..<rounds {
      note("sync: round \(round + 1) of \(rounds)")
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
          own.add(first.rowsPerSecond, of: candidate.name)
          continue
        }
        try await open(candidate)
        own.add(try await measure(candidate, SyncTurn()).rowsPerSecond, of: candidate.name)
        try candidate.close()
      }
    }
    let equal = Measurement(.fullSync(rowsPerCommit: rowsPerCommit), samples: full)
    return [equal, processor, own, again, poll]
  }

  private func open(_ candidate: any SyncCandidate) async throws {
    // What one candidate left for the disk is not to be paid by the next one's flush.
    sync()
    try await candidate.open(
      in: scratch.emptyFolder("sync-\(candidate.name.rawValue)"), feed: feed)
  }

  /// A sync of all pages, and a look at what it has left.
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
        throw BenchError(.mismatch, "\(candidate.name): fetched though nothing has changed")
      }
    }
    return Summary(times)?.median ?? .nan
  }
}

/// Of all threads of this process, also in the kernel.
private func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

extension Operation {
  static func fullSync(rowsPerCommit: Int) -> Operation {
    Operation(
      "full sync, commits of \(counted(rowsPerCommit, "rows"))", "rows/s", .higher,
      [Target(.atLeast(2, .grdb)), Target(.atMost(2, .raw))])
  }
  static let fullSyncProcessor = Operation("  processor time", "s")
  static let fullSyncAsQuickest = Operation(
    "full sync, commits as each likes", "rows/s", .higher,
    [Target(.atLeast(4, .grdb)), Target(.atMost(2, .raw))])
  static let syncAgain = Operation("sync again, all pages, nothing new", "rows/s", .higher)
  static let poll = Operation("sync again, 304", "ms")
}
