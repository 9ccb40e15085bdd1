import DurableJobs
import EntityModel
import EntityObjects
import EntityStore
import Foundation
import Maintenance
import StoreJobs
import TestSupport
import Testing

/// The jobs of a worker that is killed repeatedly, and their required results.
///
/// - A batch completes, and each of its records is changed once. It reports progress after its
///   first chunk, but may be killed before, so it is enqueued with more rescues than there are
///   kills.
/// - The others start again after each kill. With the default of three rescues, four kills before
///   their end (of a sync: before its first commit) poison them. Their effects are then not
///   checked. For a feed, the schedule enqueues another sync.
/// - No job is discarded, and none fails.
struct KilledWork {
  static let mayBePoisoned: Set<JobKind> = [
    SyncFeed.kind, ExportFetch.kind, DurableFetch.kind, BackUpStore.kind, CheckStore.kind,
    PruneStore.kind,
  ]
  static let batchRescuesMax = 10_000

  private static let localRecords = 400
  private static let recordsOfFile = 150
  private static let doomedRecords = 100

  let store: Store
  let folder: TemporaryFolder
  private var updates: [JobID] = []
  private var inserts: [JobID] = []
  private var deletions: [JobID] = []
  private var backups: [JobID] = []
  private var exports: [JobID] = []
  private var number = 0

  init(_ store: Store, _ folder: TemporaryFolder) async throws {
    self.store = store
    self.folder = folder
    try await store.write { transaction in
      for number in 0..<Self.localRecords {
        try transaction.insert("Episode", ["id": .string("local:\(number)"), "duration": 0])
      }
    }
  }

  mutating func enqueue(_ random: inout SeededRandom) async throws {
    number += 1
    switch Int.random(in: 0..<9, using: &random) {
    case 0, 1:
      updates.append(
        try await enqueueBatch(
          UpdateRecords(
            "Episode", where: .comparison("id", .beginsWith, "local:"),
            set: ["duration": .expression(.arithmetic(.add, .path("duration"), .value(1)))])))
    case 2:
      inserts.append(
        try await enqueueBatch(InsertRecords("Episode", file: try writeFile(number))))
    case 3: deletions.append(try await enqueueDeletion(number))
    case 4:
      let export = ExportFetch(
        FetchRequest(entityName: "Episode"), to: folder.path("export-\(number).jsonl"))
      exports.append(try await JobQueue(store).enqueue(export).id)
    case 5: try await JobQueue(store).enqueue(DurableFetch(FetchRequest(entityName: "Episode")))
    case 6:
      let backup = BackUpStore(to: folder.path("backup-\(number)"))
      backups.append(try await JobQueue(store).enqueue(backup).id)
    case 7: try await JobQueue(store).enqueue(CheckStore())
    default: try await JobQueue(store).enqueue(PruneStore())
    }
  }

  private func enqueueBatch(_ job: some Job) async throws -> JobID {
    try await JobQueue(store).enqueue(job) { $0.rescuesMax = Self.batchRescuesMax }.id
  }

  private func writeFile(_ number: Int) throws -> String {
    let path = folder.path("records-\(number).jsonl")
    let lines = (0..<Self.recordsOfFile).map { "{\"id\":\"file:\(number):\($0)\"}\n" }
    try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  private func enqueueDeletion(_ number: Int) async throws -> JobID {
    var request = try JobRequest(
      DeleteRecords("Episode", where: .comparison("id", .beginsWith, .string("doomed:\(number):"))))
    request.rescuesMax = Self.batchRescuesMax
    return try await store.write { [request] transaction in
      for record in 0..<Self.doomedRecords {
        try transaction.insert("Episode", ["id": .string("doomed:\(number):\(record)")])
      }
      return try transaction.enqueue(request).id
    }
  }

  // MARK: At the end

  /// True if everything has ended but for the syncs, of which there are always more.
  func isDone() throws -> Bool {
    var filter = JobFilter()
    filter.states = Set(JobState.allCases.filter { !$0.isFinished })
    filter.limit = .max
    return try JobQueue(store).list(filter).allSatisfy { $0.kind == SyncFeed.kind.rawValue }
  }

  /// Makes jobs due that were postponed because of a kill.
  func hurry() async throws {
    var filter = JobFilter()
    filter.states = [.scheduled]
    filter.limit = .max
    for job in try JobQueue(store).list(filter) where job.runAt > store.now() {
      try await JobQueue(store).retry(job.id)
    }
  }

  /// Checks the batches: the expected value of each record, and their reports.
  func expectBatches() throws {
    let queue = JobQueue(store)
    for (jobs, count) in [
      (updates, Self.localRecords), (inserts, Self.recordsOfFile), (deletions, Self.doomedRecords),
    ] {
      for job in jobs {
        let status = try #require(try queue.status(job))
        #expect(status.state == .succeeded && status.error == nil, "\(status)")
        guard status.state == .succeeded else { continue }
        let counts = try status.output(of: UpdateRecords.self).counts
        #expect(counts.updated + counts.inserted + counts.deleted == Int64(count), "\(status)")
      }
    }
    try store.read { transaction in
      var wrong = 0
      for number in 0..<Self.localRecords {
        let id: [String: Value] = ["id": .string("local:\(number)"), "feedID": .null]
        let record = try transaction.get("Episode", by: id)
        if try record?["duration"] != .int64(Int64(updates.count)) { wrong += 1 }
      }
      #expect(wrong == 0)
      let counts = [
        ("local:", Self.localRecords), ("doomed:", 0),
        ("file:", Self.recordsOfFile * inserts.count),
      ]
      for (prefix, count) in counts {
        let request = FetchRequest(
          entityName: "Episode", predicate: .comparison("id", .beginsWith, .string(prefix)))
        #expect(try transaction.count(request) == count, "\(prefix)")
      }
    }
  }

  /// Checks all jobs but the batches.
  func expectEndings() throws {
    var filter = JobFilter()
    filter.limit = .max
    let batches = Set(updates + inserts + deletions)
    for job in try JobQueue(store).list(filter) where !batches.contains(job.id) {
      #expect(job.attempts <= 1, "\(job)")
      switch job.state {
      case .succeeded: #expect(job.error == nil, "\(job)")
      case .poisoned:
        #expect(Self.mayBePoisoned.contains(JobKind(rawValue: job.kind)), "\(job)")
        #expect(job.rescues == job.rescuesMax + 1, "\(job)")
        let deaths = try JobQueue(store).attempts(of: job.id).count { $0.outcome == "rescued" }
        #expect(deaths == job.rescues, "\(job)")
      // A worker that stops hands back what it cannot end.
      default: #expect(job.kind == SyncFeed.kind.rawValue && !job.state.isFinished, "\(job)")
      }
    }
  }

  /// Checks that successful jobs have written a complete file, and that a backup is an undamaged
  /// store.
  func expectFiles() throws {
    let queue = JobQueue(store)
    for export in exports {
      let status = try #require(try queue.status(export))
      guard status.state == .succeeded else { continue }
      let output = try status.output(of: ExportFetch.self)
      let text = try String(contentsOfFile: output.path, encoding: .utf8)
      #expect(text.utf8.count == output.bytes && text.hasSuffix("\n"))
      #expect(text.split(separator: "\n").count == output.rows)
    }
    for backup in backups {
      let status = try #require(try queue.status(backup))
      guard status.state == .succeeded else { continue }
      #expect(try Store.check(at: status.output(of: BackUpStore.self).path).isClean)
    }
  }

  /// How the jobs of each kind have ended.
  func summary() throws -> String {
    var filter = JobFilter()
    filter.limit = .max
    var counts: [String: Int] = [:]
    for job in try JobQueue(store).list(filter) {
      counts["\(job.kind) \(job.state)", default: 0] += 1
    }
    return counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
      .joined(separator: ", ")
  }
}
