@_spi(Measurement) import DurableJobs
import Foundation
import Mooring

/// Measures claims among many jobs and among few, in turn, so that a slow minute of the machine
/// affects both.
struct LargeJobStore {
  let scratch: ScratchFolder
  /// The factor for 1,000,000 ready and 10,000,000 finished jobs.
  let scale: Double

  private static let commits = 200
  private static let batch = 128
  private static let filledPerCommit = 10_000

  /// Returns the approximate bytes of the jobs.
  static func bytes(scale: Double) -> Int { Int(11e6 * scale) * 900 }

  func run(into results: inout Measurements) async throws {
    let needed = Self.commits * (Self.batch + 1)
    let small = try scratch.emptyFolder("few")
    let large = try scratch.emptyFolder("many")
    try await fill(small, ready: needed, finished: 0)
    try await fill(large, ready: max(needed, Int(1e6 * scale)), finished: Int(1e7 * scale))

    let few = JobTurns(try Store.openForJobs(in: small))
    let many = JobTurns(try Store.openForJobs(in: large))
    for (count, operations) in [
      (1, (few: Operation.claimOneOfFew, many: Operation.claimOneOfMany)),
      (Self.batch, (few: .claimBatchOfFew, many: .claimBatchOfMany)),
    ] {
      sync()
      for _ in 0..<Self.commits {
        results.add(try milliseconds(few, count), to: operations.few, of: .mooring)
        results.add(try milliseconds(many, count), to: operations.many, of: .mooring)
      }
    }
  }

  private func milliseconds(_ turns: JobTurns, _ count: Int) throws -> Double {
    let start = ContinuousClock.now
    let claimed = try turns.claim(count, of: [BenchJob.kind])
    let time = ContinuousClock.now - start
    guard claimed.count == count else {
      throw BenchError(.mismatch, "\(claimed.count) jobs were claimed instead of \(count)")
    }
    return time.seconds * 1000
  }

  private func fill(_ folder: URL, ready: Int, finished: Int) async throws {
    let store = try Store.openForJobs(in: folder, flushesCommits: false)
    let turns = JobTurns(store)
    for start in stride(from: 0, to: finished, by: Self.filledPerCommit) {
      let count = min(Self.filledPerCommit, finished - start)
      try await enqueue(count, in: store)
      let claimed = try turns.claim(count, of: [BenchJob.kind])
      guard try turns.finish(claimed) == count else {
        throw BenchError(.mismatch, "a job was finished by another claim")
      }
      if start % 1_000_000 == 0 { reportProgress("\(start) of \(finished) jobs are finished") }
    }
    for start in stride(from: 0, to: ready, by: Self.filledPerCommit) {
      try await enqueue(min(Self.filledPerCommit, ready - start), in: store)
    }
  }

  private func enqueue(_ count: Int, in store: Store) async throws {
    let request = try JobRequest(BenchJob.sample)
    try await store.write { transaction in
      for _ in 0..<count { try transaction.enqueue(request) }
    }
  }
}
