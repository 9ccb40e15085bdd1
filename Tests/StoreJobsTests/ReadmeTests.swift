import DurableJobs
import EntityModel
import EntityStore
import Foundation
import StoreJobs
import TestSupport
import Testing

// job
struct MeasureItem: Job {
  static let kind: JobKind = "item.measure"
  let item: Int64
  // One unfinished job for each item.
  var uniqueKey: String? { "\(item)" }
}
// end

/// The code of the section "Run jobs" of the readme, run; the section is held against the lines between
/// the marks.
@Suite(.timeLimit(.minutes(10))) struct ReadmeTests {
  @Test func theJobsOfTheReadmeRun() async throws {
    try await withStoreJobs { temporary in
      let store = temporary.store
      let path = temporary.folder.path("items.csv")
      // use
      // Both or none.
      try await store.write { transaction in
        let id = try transaction.insert("Item", ["name": "walk"])
        try transaction.enqueue(MeasureItem(item: id.number))
      }

      var handlers = JobHandlers()
      // The jobs of this project: see below.
      handlers.handleStoreJobs()
      handlers.handle(MeasureItem.self) { job, context in
        // Cancelled with the job.
        let length = try await measure(job.item)
        // Written once, with the end of the job.
        return try await context.complete { transaction in
          try transaction.update(ObjectID(entity: "Item", number: job.item)) { item in
            try item.set("rank", to: .int64(length))
          }
          return NoOutput()
        }
      }
      let runner = JobRunner(store, handlers)
      // Until `runner.stop(within:)`.
      let running = Task { try await runner.run() }

      let items = FetchRequest(entityName: "Item")
      let export = ExportFetch(items, to: path, format: .csv)
      let handle = try await JobQueue(store).enqueue(export)
      for try await status in handle.updates { print(status.progress.done ?? 0) }
      print(try await handle.value.rows)
      // end
      try await temporary.waitForCommit { try store.fetch(items).map { try $0["rank"] } == [42] }
      await runner.stop(within: .seconds(60))
      try await running.value
    }
  }

  private func measure(_ item: Int64) async throws -> Int64 { 42 }

  @Test func theReadmeShowsTheCodeThatRuns() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let root = folder.deletingLastPathComponent().deletingLastPathComponent()
    let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
    let source = try String(contentsOfFile: #filePath, encoding: .utf8)
    let shown = try #require(
      readme.components(separatedBy: "## Run jobs").dropFirst().first?
        .components(separatedBy: "```swift\n").dropFirst().first?
        .components(separatedBy: "```").first)
    let lines = shown.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(lines == Self.lines(of: "job", in: source) + Self.lines(of: "use", in: source))
  }

  /// Between a mark and the next end, without indentation and empty lines.
  private static func lines(of mark: String, in source: String) -> [String] {
    let lines = source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    guard let start = lines.firstIndex(of: "// \(mark)") else { return [] }
    return Array(lines[(start + 1)...].prefix { $0 != "// end" })
  }
}
