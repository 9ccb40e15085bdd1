import Dispatch
import EntityStore
import Foundation
import TestSupport
import Testing

@testable import DurableJobs

/// Jobs that are enqueued at the same time, and so share a transaction.
@Suite struct ConcurrentEnqueueTests {
  @Test(arguments: [1, 2, 3] as [UInt64])
  func aRefusedJobDoesNotHarmItsNeighbors(seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    let blank = String(repeating: " ", count: Limits.payloadBytesMax)
    let requests = (0..<120).map { number in
      let kind = Int.random(in: 0..<8, using: &random)
      let payload = "{\"number\":\(number)}" + (kind == 0 ? blank : "")
      var request = JobRequest(kind: Numbered.kind, payload: Data(payload.utf8))
      switch kind {
      case 1: request.uniqueKey = "one"
      case 2: request.attemptsMax = 0
      default: break
      }
      return request
    }
    try await withTemporaryJobs(seed: seed) { temporary in
      let queue = JobQueue(temporary.store)
      let outcomes = try await outcomes(of: requests, in: queue)
      for (request, outcome) in zip(requests, outcomes) {
        let isRefused = request.attemptsMax == 0 || request.payload.count > Limits.payloadBytesMax
        switch outcome {
        case .success(let job):
          #expect(!isRefused, "seed \(seed)")
          if request.uniqueKey == nil { #expect(job.isNew, "seed \(seed)") }
          #expect(try queue.status(job.id)?.state == .ready, "seed \(seed)")
        case .failure(let error):
          #expect(
            isRefused && (error as? JobError)?.code == .invalidRequest, "seed \(seed): \(error)")
        }
      }
      let enqueued = outcomes.compactMap { try? $0.get() }.filter(\.isNew)
      #expect(Set(enqueued.map(\.id)).count == enqueued.count, "seed \(seed)")
      #expect(try temporary.store.read { try $0.count(of: "_Job") } == enqueued.count)
    }
  }

  @Test func aClosedStoreRefusesAllOfThem() async throws {
    try await withTemporaryJobs { temporary in
      let other = try openStore(
        at: temporary.folder.path("store"), migrations: [.model, .jobs], clock: temporary.clock)
      let queue = JobQueue(other)
      other.close()
      for outcome in try await outcomes(of: [Self.request, Self.request], in: queue) {
        guard case .failure(let error as StoreError) = outcome else {
          Issue.record("a closed store was written to")
          continue
        }
        #expect(error.code == .closed)
      }
    }
  }

  private static let request = JobRequest(kind: Numbered.kind, payload: Data("{}".utf8))

  /// Enqueues all of them while the writer is busy, so that most share a transaction.
  private func outcomes(
    of requests: [JobRequest], in queue: JobQueue
  ) async throws -> [Result<EnqueuedJob, any Error>] {
    let isBusy = DispatchSemaphore(value: 0)
    async let busy: Void? = try? queue.store.write { _ in isBusy.wait() }
    let outcomes = await withTaskGroup(of: (Int, Result<EnqueuedJob, any Error>).self) { group in
      for (number, request) in requests.enumerated() {
        group.addTask {
          // A tuple returned from within `do` has a wrong number with Swift 6.3.1 and -O.
          let outcome: Result<EnqueuedJob, any Error>
          do {
            outcome = .success(try await queue.enqueue(request))
          } catch {
            outcome = .failure(error)
          }
          return (number, outcome)
        }
      }
      for _ in 0..<1_000 { await Task.yield() }
      isBusy.signal()
      var outcomes: [Int: Result<EnqueuedJob, any Error>] = [:]
      for await (number, outcome) in group { outcomes[number] = outcome }
      return outcomes
    }
    _ = await busy
    return try requests.indices.map { try #require(outcomes[$0]) }
  }
}
