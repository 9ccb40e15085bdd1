import EntityStore
import StoreJobs
import TestSupport
import Testing

@testable import DurableJobs
@testable import WorkerService

@Suite(.timeLimit(.minutes(5))) struct LostRunnerTests {
  @Test func aWorkerThatOthersTookForDeadServesOn() async throws {
    try await withWorkerFolder { folder in
      let store = try openWorkerStore(folder)
      let worker = try TestWorker(on: folder, try SettingsSource().live())
      try await worker.run {
        let first = try #require(try JobQueue(store).runners().first)
        // What others do when its lock has ended.
        try await store.write { try JobTable($0).removeRunner(first.epoch) }
        let check = try await store.write { try $0.enqueue(CheckStore()) }
        try await store.wait(for: check.id, toBe: .succeeded)
        let second = try #require(try JobQueue(store).runners().first)
        #expect(second.epoch > first.epoch && second.process == first.process)
        try await worker.log.wait(for: "warning starting again", "other runners took this one")
      }
    }
  }
}
