import DurableJobs
import EntityModel
import EntityStore
import Foundation
import Maintenance
import Migrations
import TestSupport
import Testing

@testable import StoreJobs

@Suite(.timeLimit(.minutes(10)))
struct MaintenanceJobsTests {
  // MARK: Backups

  @Test func aBackupIsAStoreOfItsOwn() async throws {
    try await withStoreJobs { temporary in
      try await temporary.insertItems(20)
      let folder = temporary.folder.path("backup")
      let output = try await temporary.value(of: BackUpStore(to: folder, isCompacting: true))
      #expect(output.path == folder && output.bytes > 0)
      #expect(try output.storeID == temporary.store.id)
      let copy = try openStore(at: folder, migrations: [.items], migrate: .never)
      #expect(try copy.read { try $0.count(of: "Item") } == 20)
    }
  }

  @Test func aFolderThatHoldsSomethingElseIsNotChanged() async throws {
    try await withStoreJobs { temporary in
      let folder = temporary.folder.path("backup")
      _ = try await temporary.value(of: BackUpStore(to: folder))
      // The backup of another job.
      #expect(try await temporary.refusal(of: BackUpStore(to: folder)).contains("files already"))
      let full = temporary.folder.path("full")
      try FileManager.default.createDirectory(atPath: full, withIntermediateDirectories: false)
      try Data("x".utf8).write(to: URL(fileURLWithPath: full + "/notes"))
      #expect(try await temporary.refusal(of: BackUpStore(to: full)).contains("files already"))
      #expect(try await temporary.refusal(of: BackUpStore(to: "backup")).contains("from the root"))
    }
  }

  /// The attempt that wrote it died before it could record its end.
  @Test func aBackupFromAnInterruptedAttemptCountsAsDone() async throws {
    try await withStoreJobs { temporary in
      let folder = temporary.folder.path("backup")
      var handlers = JobHandlers()
      handlers.handleBlocking(BackUpStore.self) { job, context in
        _ = try job.run(context)
        return try job.run(context)
      }
      let runner = JobRunner(temporary.store, handlers)
      let run = Task { try await runner.run() }
      let output = try await temporary.queue.enqueue(BackUpStore(to: folder)).value
      #expect(try output.storeID == temporary.store.id && output.path == folder && output.bytes > 0)
      await runner.stop(within: .seconds(10))
      try await run.value
    }
  }

  @Test func oneBackupToAFolderRunsAtATime() async throws {
    try await withStoreJobs { temporary in
      let long = "/" + String(repeating: "x", count: 300)
      for folder in ["/a", long] {
        let first = try await temporary.queue.enqueue(BackUpStore(to: folder))
        #expect(try await temporary.queue.enqueue(BackUpStore(to: folder)).id == first.id)
        #expect(try await temporary.queue.enqueue(BackUpStore(to: folder + "y")).id != first.id)
      }
    }
  }

  // MARK: Checks

  @Test func aCheckReportsThatAStoreIsClean() async throws {
    try await withStoreJobs { temporary in
      try await temporary.insertItems(20)
      let output = try await temporary.value(of: CheckStore())
      #expect(output.isClean && output.problems.isEmpty && output.problemCount == 0)
      #expect(output.records > 20 && output.entries > 20 && output.pages > 0)
    }
  }

  @Test func damageIsTheResultOfACheckAndItsFirstProblemsAreListed() throws {
    let none = #"{"pages":{"free":0,"lost":0,"total":7},"problemCount":0,"problems":[]}"#
    var report = try JSONDecoder().decode(StoreReport.self, from: Data(none.utf8))
    report.problems = (0..<50).map { "page \($0)" }
    report.problemCount = 90
    let output = CheckStore.Output(report)
    #expect(!output.isClean && output.problemCount == 90 && output.records == 0)
    #expect(output.problems == (0..<20).map { "page \($0)" })
  }

  // MARK: Compaction

  @Test func aCompactionNeedsARunnerThatCanCompact() async throws {
    try await withStoreJobs { temporary in
      #expect(try await temporary.refusal(of: CompactStore()).contains("mooring compact"))
      let won = Data(#"{"bytesAfter":1,"bytesBefore":2,"path":"/store"}"#.utf8)
      let report = try JSONDecoder().decode(CompactionReport.self, from: won)
      let result = try await temporary.running(compaction: { _ in report }) { _ in
        try await temporary.queue.enqueue(CompactStore()).value
      }
      #expect(result == report)
    }
  }

  // MARK: Pruning

  @Test func pruningRemovesExpiredJobs() async throws {
    try await withStoreJobs { temporary in
      let fetch = DurableFetch(FetchRequest(entityName: "Item"))
      try await temporary.insertItems(3)
      let handle = try await temporary.queue.enqueue(fetch) { $0.retention = .seconds(10) }
      let rows = try await temporary.running { _ in try await handle.rows }
      temporary.clock.advance(by: 11)
      #expect(try await temporary.value(of: PruneStore()).jobs == 1)
      #expect(try temporary.queue.status(handle.id) == nil)
      #expect(throws: DurableRowsError.self) { try rows.page(0) }
    }
  }

  // MARK: Indexes

  private func file(_ steps: String, older: String = "write") -> BuildIndexes.File {
    BuildIndexes.File(
      name: "0001_local",
      text: "line: local\nsummary: Indexes\nolder: \(older)\nsteps:\n  - \(steps)\n")
  }

  private let byRank = "createIndex: { on: Item, name: byRank, keys: [rank desc] }"

  @Test func anIndexIsBuiltAndServes() async throws {
    try await withStoreJobs { temporary in
      try await temporary.insertItems(200)
      let job = BuildIndexes([file(byRank)])
      let output = try await temporary.value(of: job)
      #expect(output == .init(applied: ["local 0001_local"], versions: ["local": 1]))
      let request = FetchRequest(
        entityName: "Item", predicate: try FetchPredicate(format: "rank > 190"), requiresIndex: true
      )
      #expect(try temporary.store.read { try $0.count(request) } == 9)
      try await temporary.store.write { try $0.insert("Item", ["name": "new", "rank": 500]) }
      #expect(try temporary.store.read { try $0.count(request) } == 10)
      let again = try await temporary.value(of: job)
      #expect(again == .init(applied: [], versions: ["local": 1]))
    }
  }

  @Test func anInterruptedIndexBuildResumesWhileOthersWrite() async throws {
    try await withStoreJobs { temporary in
      // More than are indexed in one transaction.
      for number in 0..<4 {
        try await temporary.store.write { transaction in
          for item in 0..<4_000 {
            let name = "n\(number * 4_000 + item)"
            try transaction.insert("Item", ["name": .string(name), "rank": .int64(Int64(item))])
          }
        }
      }
      let handle = try await temporary.queue.enqueue(BuildIndexes([file(byRank)]))
      let store = temporary.store
      let isBuilding: @Sendable () throws -> Bool = { try store.migrationState().running != nil }
      try await temporary.interrupt(when: isBuilding)
      #expect(try temporary.queue.status(handle.id)?.state == .ready && isBuilding())
      try await temporary.store.write { try $0.insert("Item", ["name": "new", "rank": 3_999]) }
      let output = try await temporary.running { _ in try await handle.value }
      #expect(output.applied == ["local 0001_local"])
      let request = FetchRequest(
        entityName: "Item", predicate: try FetchPredicate(format: "rank == 3999"),
        requiresIndex: true)
      #expect(try temporary.store.read { try $0.count(request) } == 5)
    }
  }

  @Test func stepsOtherThanIndexStepsAreRefused() async throws {
    try await withStoreJobs { temporary in
      try await temporary.insertItems(2)
      let unique = "createIndex: { on: Item, name: one, keys: [seenAt], unique: true"
      let refused = [
        [], [BuildIndexes.File(name: "0001_local", text: "steps")],
        [file("dropEntity: Item")], [file("dropAttribute: { on: Item, name: rank }")],
        [file(byRank, older: "read")], [file(byRank.replacing("rank desc", with: "nothing"))],
        [file(unique + ", onViolation: keepNewest }")], [file(unique + " }")],
        [
          BuildIndexes.File(
            name: "0004_x", text: "line: system\nsummary: x\nsteps:\n  - \(byRank)\n")
        ],
      ]
      for files in refused {
        let refusal = try await temporary.refusal(of: BuildIndexes(files))
        #expect(!refusal.isEmpty && !refusal.contains("\n"))
      }
      #expect(try temporary.store.read { try $0.description(of: "Item").indexes.count } == 1)
    }
  }
}
