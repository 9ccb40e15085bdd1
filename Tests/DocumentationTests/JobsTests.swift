import Foundation
import Mooring
import TestSupport
import Testing

// listing
struct MeasureItem: Job {
  static let kind: JobKind = "item.measure"
  let item: Int64
  // One unfinished job for each item.
  var uniqueKey: String? { "\(item)" }
}
// end

/// A job of many steps.
struct ReadShelf: Job {
  static let kind: JobKind = "shelf.read"
  let books: Int64
}

/// The code of the page "Jobs", run.
@Suite(.timeLimit(.minutes(10))) struct JobsTests {
  @Test func theJobsOfThePageRun() async throws {
    try await withTemporaryStore(migrations: [Self.items, .jobs]) { temporary in
      let store = temporary.store
      let path = temporary.folder.path("items.csv")
      // listing
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
      let commits = try store.commits.observe()
      var seen = 0
      while try store.fetch(items).map({ try $0["rank"] }) != [42] {
        seen = try await commits.next(after: seen)
      }
      await runner.stop(within: .seconds(60))
      try await running.value
    }
  }

  @Test func aLongJobCommitsItsCheckpoints() async throws {
    try await withTemporaryStore(migrations: [Self.items, .jobs]) { temporary in
      let store = temporary.store
      var handlers = JobHandlers()
      // listing
      handlers.handle(ReadShelf.self) { job, context in
        var next: Int64 = try context.checkpoint() ?? 1
        while next <= job.books {
          try context.checkCancellation()
          let book = next
          try await context.write(checkpoint: book + 1) { transaction in
            try transaction.insert("Item", ["name": .string("book \(book)")])
          }
          context.report(done: book, of: job.books)
          next += 1
        }
        return NoOutput()
      }
      // end
      let runner = JobRunner(store, handlers)
      let running = Task { try await runner.run() }
      _ = try await JobQueue(store).enqueue(ReadShelf(books: 3)).value
      #expect(try store.read { try $0.count(of: "Item") } == 3)
      await runner.stop(within: .seconds(60))
      try await running.value
    }
  }

  private func measure(_ item: Int64) async throws -> Int64 { 42 }

  private static let items = MigrationSource(embedded: [
    (
      "0001_items",
      Array(
        """
        line: items
        summary: Small records
        steps:
          - createEntity:
              name: Item
              attributes:
                - { name: name, type: string }
                - { name: rank, type: int64, default: 0 }
        """.utf8)
    )
  ])
}
