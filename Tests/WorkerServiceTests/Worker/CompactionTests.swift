import DurableJobs
import EntityModel
import EntityStore
import Foundation
import Maintenance
import StoreJobs
import TestSupport
import Testing

@testable import WorkerService

@Suite(.serialized, .timeLimit(.minutes(5))) struct CompactionTests {
  @Test func theFileShrinksAndTheWorkerContinues() async throws {
    try await withWorkerFolder { folder in
      let job = try await enqueueCompaction(in: folder)
      let worker = try TestWorker(on: folder, try SettingsSource().live())
      try await worker.run {
        try await worker.log.wait(for: "a job has ended", "job=\(job)", "status=succeeded")
        let store = try openWorkerStore(folder)
        let status = try #require(try JobQueue(store).status(job))
        let report = try status.output(of: CompactStore.self)
        #expect(report.bytesAfter < report.bytesBefore / 4)
        // The attempt that asked is not counted.
        #expect(status.attempts == 1 && status.error == nil)
        #expect(try await JobQueue(store).enqueue(CheckStore()).value.isClean)
      }
      #expect(worker.systemd.lines.contains("STATUS=compacting"))
      #expect(worker.systemd.lines.last { $0.hasPrefix("STATUS=") }?.contains("stopping") == true)
    }
  }

  @Test func otherJobsFinishBeforeACompaction() async throws {
    try await withWorkerFolder { folder in
      let job = try await enqueueCompaction(in: folder, besides: 20)
      let worker = try TestWorker(on: folder, try SettingsSource { $0.concurrency = 4 }.live())
      try await worker.run {
        try await worker.log.wait(for: "a job has ended", "job=\(job)", "status=succeeded")
        let store = try openWorkerStore(folder)
        var filter = JobFilter()
        filter.kinds = [PruneStore.kind]
        for prune in try JobQueue(store).list(filter) {
          try await store.wait(for: prune.id, toBe: .succeeded)
        }
      }
    }
  }

  /// It is tried again later, and fails at last if that never changes.
  @Test func aStoreThatIsOpenElsewhereIsNotCompacted() async throws {
    try await withWorkerFolder { folder in
      let job = try await enqueueCompaction(in: folder)
      let worker = try TestWorker(on: folder, try SettingsSource().live()) {
        $0.compaction.writerDeadline = .seconds(2)
      }
      let open = try openWorkerStore(folder)
      try await worker.run {
        try await worker.log.wait(for: "compacting")
        let status = try await open.wait(for: job, toBe: .scheduled) { $0.error != nil }
        #expect(status.attempts == 1)
        #expect(status.error?.contains("open") == true, "\(status)")
        try await worker.log.wait(for: "job=\(job)", "status=retried")
        #expect(try await JobQueue(open).enqueue(CheckStore()).value.isClean)
      }
    }
  }

  /// Creates a store with much free space, and a job that compacts it.
  private func enqueueCompaction(in folder: String, besides others: Int = 0) async throws -> JobID {
    let store = try openWorkerStore(folder)
    let text = String(repeating: "long ", count: 1_000)
    try await store.write { transaction in
      for number in 0..<500 {
        try transaction.insert(
          "Episode", ["id": .string("e\(number)"), "summary": .string(text)])
      }
    }
    try await store.write { transaction in
      for id in try transaction.fetchIdentifiers(FetchRequest(entityName: "Episode")) {
        try transaction.delete(id)
      }
    }
    let compaction = try JobRequest(CompactStore())
    return try await store.write { transaction in
      for number in 0..<others {
        var request = try JobRequest(PruneStore())
        request.uniqueKey = "\(number)"
        try transaction.enqueue(request)
      }
      return try transaction.enqueue(compaction).id
    }
  }
}
