import DurableJobs
import EntityModel
import EntityObjects
import EntityStore
import Foundation
import TestSupport
import Testing

@testable import StoreJobs

@Suite(.timeLimit(.minutes(10)))
struct BatchJobsTests {
  /// The number of records, so large that a batch is committed in many chunks.
  private static let many = 12_000

  private func increment(_ format: String? = nil) throws -> UpdateRecords {
    UpdateRecords(
      "Item", where: try format.map { try FetchPredicate(format: $0) },
      set: ["rank": try .format("rank + 1"), "seenAt": .now])
  }

  @Test func anUpdateChangesMatchingRecordsAndReportsTheirNumber() async throws {
    try await withStoreJobs { temporary in
      try await temporary.insertItems(10)
      let report = try await temporary.value(of: increment("rank >= 7"))
      #expect(report.counts.updated == 3 && !report.isResumed && report.errors.isEmpty)
      #expect(try temporary.count("rank >= 8") == 3)
      #expect(try temporary.count("seenAt != nil") == 3)
      #expect(try temporary.writesUnderWay() == 0)
    }
  }

  @Test func anInterruptedUpdateResumesAndChangesEachRecordOnce() async throws {
    try await withStoreJobs { temporary in
      try await temporary.insertItems(Self.many)
      let handle = try await temporary.queue.enqueue(increment())
      try await temporary.interrupt { try temporary.writesUnderWay() == 1 }
      let interrupted = try #require(try temporary.queue.status(handle.id))
      #expect(interrupted.state == .ready && interrupted.attempts == 0)
      let done = try temporary.count("seenAt != nil")
      #expect(done > 0 && done < Self.many)
      let report = try await temporary.running { _ in try await handle.value }
      #expect(report.isResumed && report.counts.updated == Int64(Self.many))
      #expect(try temporary.count("rank == 0") == 0)
      #expect(try temporary.count("rank == \(Self.many)") == 1)
      #expect(try temporary.writesUnderWay() == 0)
    }
  }

  @Test func aCancelledUpdateEndsAndResumesWhenItIsRetried() async throws {
    try await withStoreJobs { temporary in
      try await temporary.insertItems(Self.many)
      let handle = try await temporary.queue.enqueue(increment())
      try await temporary.running { _ in
        try await temporary.waitForCommit { try temporary.writesUnderWay() == 1 }
        try await handle.cancel()
        let error = try await #require(throws: JobError.self) { try await handle.value }
        #expect(error.code == .cancelled)
        #expect(try temporary.count("seenAt == nil") > 0)
        try await temporary.queue.retry(handle.id)
        #expect(try await handle.value.counts.updated == Int64(Self.many))
      }
      #expect(try temporary.count("rank == 1") == 1)
      #expect(try temporary.count("rank == \(Self.many)") == 1)
    }
  }

  @Test func theProgressOfABatchIsStoredWithItsJob() async throws {
    try await withStoreJobs { temporary in
      try await temporary.insertItems(Self.many)
      let handle = try await temporary.queue.enqueue(increment())
      let checkpoint = { @Sendable in
        try temporary.store.read { transaction in
          try transaction.get(ObjectID(entity: "_Job", number: handle.id.rawValue))?[
            "checkpointClaim"]
        }
      }
      try await temporary.interrupt { try checkpoint() == .int64(1) }
      #expect(try temporary.queue.status(handle.id)?.state == .ready)
    }
  }

  @Test func aDeletionResumesAfterAnInterruption() async throws {
    try await withStoreJobs { temporary in
      try await temporary.insertItems(Self.many)
      let handle = try await temporary.queue.enqueue(
        DeleteRecords("Item", where: try FetchPredicate(format: "rank >= 5")))
      try await temporary.interrupt { try temporary.writesUnderWay() == 1 }
      #expect(try temporary.count("rank >= 5") > 0)
      let report = try await temporary.running { _ in try await handle.value }
      #expect(report.isResumed && report.counts.deleted == Int64(Self.many - 5))
      #expect(try temporary.store.read { try $0.count(of: "Item") } == 5)
    }
  }

  @Test(arguments: ["csv", "jsonl"])
  func anInsertTakesEachItemOfAFileOnceWhateverInterruptsIt(_ format: String) async throws {
    try await withStoreJobs { temporary in
      let file = temporary.folder.path("items")
      let lines = (0..<Self.many).map {
        format == "csv" ? "i\($0),\($0)" : "{\"name\":\"i\($0)\",\"rank\":\($0)}"
      }
      let head = format == "csv" ? ["name,rank"] : []
      try (head + lines).joined(separator: "\n").write(
        toFile: file, atomically: true, encoding: .utf8)
      let handle = try await temporary.queue.enqueue(InsertRecords("Item", file: file))
      try await temporary.interrupt { try temporary.writesUnderWay() == 1 }
      #expect(try temporary.store.read { try $0.count(of: "Item") } < Self.many)
      let report = try await temporary.running { _ in try await handle.value }
      #expect(report.isResumed && report.counts.inserted == Int64(Self.many))
      #expect(try temporary.store.read { try $0.count(of: "Item") } == Self.many)
    }
  }

  @Test func anItemThatIsRefusedEndsTheInsertOrIsListed() async throws {
    try await withStoreJobs { temporary in
      let file = temporary.folder.path("items.jsonl")
      try "{\"name\":\"a\"}\n{\"name\":\"a\"}\n{\"rank\":\"x\",\"name\":\"b\"}\n{\"name\":\"c\"}\n"
        .write(
          toFile: file, atomically: true, encoding: .utf8)
      #expect(
        try await temporary.refusal(of: InsertRecords("Item", file: file)).contains("jsonl:2"))
      #expect(try temporary.store.read { try $0.count(of: "Item") } == 1)
      let report = try await temporary.value(
        of: InsertRecords("Item", file: file, onConflict: .skip, keepsGoing: true))
      #expect(report.counts.inserted == 1 && report.counts.skipped == 2)
      #expect(report.counts.refused == 1 && report.errors.count == 1)
      #expect(report.errors.first?.contains("jsonl:3") == true)
    }
  }

  @Test func requestsThatCannotSucceedAreRefusedAtOnce() async throws {
    try await withStoreJobs { temporary in
      let predicate = try FetchPredicate(format: "nothing == 1")
      let file = temporary.folder.path("missing")
      let refusals = [
        try await temporary.refusal(of: UpdateRecords("Nobody", set: ["rank": 1])),
        try await temporary.refusal(of: UpdateRecords("Item", where: predicate, set: ["rank": 1])),
        try await temporary.refusal(of: UpdateRecords("Item", set: [:])),
        try await temporary.refusal(of: DeleteRecords("_Job", where: nil)),
        try await temporary.refusal(of: InsertRecords("Item", file: file)),
        try await temporary.refusal(of: InsertRecords("Item", file: "items.csv")),
        try await temporary.refusal(of: InsertRecords("Item", file: temporary.folder.path)),
        try await temporary.refusal(of: InsertRecords("Item", file: file, by: ["name"])),
      ]
      for refusal in refusals { #expect(!refusal.isEmpty && !refusal.contains("\n")) }
      #expect(Set(refusals).count == refusals.count)
    }
  }

  @Test func theCheckpointOfABatchIsDeletedWithItsJob() async throws {
    try await withStoreJobs { temporary in
      try await temporary.insertItems(Self.many)
      let handle = try await temporary.queue.enqueue(increment()) { $0.retention = .seconds(60) }
      try await temporary.interrupt { try temporary.writesUnderWay() == 1 }
      try await handle.cancel()
      #expect(try temporary.writesUnderWay() == 1)
      #expect(try await temporary.value(of: PruneStore()) == .init(jobs: 0, batches: 0))
      temporary.clock.advance(by: 61)
      #expect(try await temporary.value(of: PruneStore()) == .init(jobs: 1, batches: 1))
      #expect(try temporary.writesUnderWay() == 0)
    }
  }

  @Test func payloadsDescribeTheRequestInJSON() throws {
    let update = try increment("rank > 5 AND name BEGINSWITH \"i\"")
    let request = try JobRequest(update)
    #expect(
      String(decoding: request.payload, as: UTF8.self)
        == #"{"author":"batch","entity":"Item","predicate":"rank > 5 AND name BEGINSWITH \"i\"","set":{"rank":"rank + 1"},"setNow":["seenAt"],"without":[]}"#
    )
    #expect(try JSONDecoder().decode(UpdateRecords.self, from: request.payload) == update)
    let short = Data(#"{"entity":"Item","setNow":["seenAt"]}"#.utf8)
    #expect(
      try JSONDecoder().decode(UpdateRecords.self, from: short)
        == UpdateRecords("Item", set: ["seenAt": .now]))
    // To leave the predicate out by mistake must not delete everything.
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(DeleteRecords.self, from: Data(#"{"entity":"Item"}"#.utf8))
    }
    let all = Data(#"{"entity":"Item","predicate":null}"#.utf8)
    #expect(
      try JSONDecoder().decode(DeleteRecords.self, from: all) == DeleteRecords("Item", where: nil))
    #expect(
      try JSONDecoder().decode(
        DeleteRecords.self, from: JobRequest(DeleteRecords("Item", where: nil)).payload)
        == DeleteRecords("Item", where: nil))
  }
}
