import DurableJobs
import Foundation
import Synchronization

@testable import EntityStore

/// A job whose handler takes a random time and ends in a random way.
struct Work: Job {
  static let kind: JobKind = "work"
  static let policy = JobPolicy(
    queue: "work", attemptsMax: 4, rescuesMax: 2, timeout: .seconds(240),
    backoff: Backoff(base: .seconds(2), cap: .seconds(600)), retention: .seconds(3 * 3_600))

  /// Jobs with the same lane share a limit of two; `nil` for none.
  let lane: Int?
  var limit: JobLimit? { lane.map { JobLimit("work \($0)", max: 2) } }

  init(_ chance: Chance) { lane = chance.one(in: 2) ? chance.number(0...1) : nil }
}

extension World {
  /// The handler of ``Work``.
  func work(_ context: JobContext) async throws -> NoOutput {
    let milliseconds = chance.wait(mean: 50_000)
    try await sleep(milliseconds / 2)
    if chance.one(in: 2) {
      context.report(done: 1, of: 2)
      try await context.write(checkpoint: 1) { _ in }
      jobs.withLock { $0.storeCheckpoint(context.id.rawValue) }
    }
    try await sleep(milliseconds - milliseconds / 2)
    switch chance.number(0...9) {
    case 0: throw Violation("an attempt that fails on purpose")
    case 1: throw JobStop.retry(after: .seconds(chance.number(1...7_200)), because: "chance")
    case 2: throw JobStop.snooze(for: .seconds(chance.number(1...3_600)))
    case 3: throw JobStop.discard(because: "chance")
    case 4...5: return try await complete(context)
    default: return NoOutput()
    }
  }

  private func complete(_ context: JobContext) async throws -> NoOutput {
    let output = try await context.complete { _ in NoOutput() }
    let now = self.now
    try jobs.withLock { jobs in
      guard case .running(let epoch) = jobs.jobs[context.id.rawValue]?.state else {
        throw Violation("job \(context.id) has completed, and does not run")
      }
      try jobs.finish(context.id.rawValue, epoch: epoch, .success, at: now)
    }
    return output
  }

  private func sleep(_ milliseconds: Int) async throws {
    guard let strand = Strand.current else { throw Violation("a handler outside of a strand") }
    try await strand.sleep(milliseconds: milliseconds)
  }
}
