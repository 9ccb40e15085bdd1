import DurableJobs
import EntityModel
import EntityStore
import Foundation
import TestSupport
import Testing

@testable import StoreJobs

@Suite(.timeLimit(.minutes(10)))
struct FetchJobsTests {
  private static let many = 12_000

  private func items(_ format: String? = nil, _ change: (inout FetchRequest) -> Void = { _ in })
    throws -> FetchRequest
  {
    var request = FetchRequest(
      entityName: "Item", predicate: try format.map { try FetchPredicate(format: $0) })
    change(&request)
    return request
  }

  private func rows(_ rows: DurableRows) async throws -> [[Value]] {
    var all: [[Value]] = []
    for try await row in rows { all.append(row) }
    return all
  }

  // MARK: Durable fetches

  @Test func rowsOfADurableFetchAreKeptInOrderAndReadByPage() async throws {
    try await withStoreJobs { temporary in
      try await temporary.insertItems(1_203)
      let request = try items("rank >= 3") {
        $0.sortBy = [SortKey("rank", descending: true)]
        $0.fetchOffset = 1
        let double = FetchExpression.arithmetic(.multiply, .path("rank"), .value(.int64(2)))
        $0.propertiesToFetch = ["name", FetchProperty("double", double)]
      }
      let handle = try await temporary.queue.enqueue(DurableFetch(request))
      let kept = try await temporary.running { _ in try await handle.rows }
      #expect(kept.columns == ["name", "double"] && kept.count == 1_199 && kept.pages == 3)
      let expected = (3..<1_202).reversed().map { [Value.string("i\($0)"), .int64(Int64($0 * 2))] }
      #expect(try await rows(kept) == expected)
      let again = try #require(try temporary.queue.rows(of: handle.id))
      #expect(try again.page(2) == Array(expected[1_000...]))
      #expect(throws: DurableRowsError.self) { try again.page(3) }
      #expect(try temporary.queue.rows(of: JobID(rawValue: 99)) == nil)
    }
  }

  @Test func everyKindOfResultIsKeptAsFetchPrintsIt() async throws {
    try await withStoreJobs { temporary in
      try await temporary.insertItems(6)
      try await temporary.running { _ in
        func answer(_ request: FetchRequest) async throws -> (columns: [String], rows: [[Value]]) {
          let kept = try await temporary.queue.enqueue(DurableFetch(request)).rows
          return (kept.columns, try await rows(kept))
        }
        let count = try await answer(items("rank > 1") { $0.resultType = .count })
        #expect(count.columns == ["count"] && count.rows == [[.int64(4)]])
        let records = try await answer(items { $0.fetchLimit = 1 })
        #expect(records.columns == ["_id", "name", "rank", "seenAt"])
        #expect(records.rows == [[.int64(1), .string("i0"), .int64(0), .null]])
        let objects = try await answer(items("rank == 2") { $0.resultType = .identifiers })
        let reference = ObjectID(entity: "Item", number: 3).reference(in: try temporary.store.id)
        #expect(objects.rows == [[.string("Item/3"), .string(reference)]])
        let groups = try await answer(
          items {
            $0.propertiesToGroupBy = ["seenAt"]
            $0.propertiesToFetch = ["seenAt", .sum("rank", as: "total")]
          })
        #expect(groups.columns == ["seenAt", "total"] && groups.rows == [[.null, .int64(15)]])
        let distinct = try await answer(
          items {
            $0.propertiesToFetch = ["seenAt"]
            $0.returnsDistinctResults = true
          })
        #expect(distinct.rows == [[.null]])
        let nothing = try await answer(items("rank > 100"))
        #expect(nothing.columns.count == 4 && nothing.rows.isEmpty)
      }
    }
  }

  @Test func anInterruptedDurableFetchStartsAgainAndStoresEachRowOnce() async throws {
    try await withStoreJobs { temporary in
      try await temporary.insertItems(Self.many)
      let handle = try await temporary.queue.enqueue(DurableFetch(try items()))
      let pages = { @Sendable in try temporary.store.read { try $0.count(of: "_JobOutput") } }
      try await temporary.interrupt { try pages() > 0 }
      #expect(try temporary.queue.status(handle.id)?.state == .ready)
      #expect(throws: JobError.self) { try temporary.queue.rows(of: handle.id) }
      let kept = try await temporary.running { _ in try await handle.rows }
      let numbers = try await rows(kept).map(\.first)
      #expect(numbers == (1...Self.many).map { .int64(Int64($0)) })
      #expect(try pages() == kept.pages)
    }
  }

  @Test func aDurableFetchThatIsCancelledOrTooLargeLeavesNoRows() async throws {
    try await withStoreJobs { temporary in
      try await temporary.insertItems(Self.many)
      let pages = { @Sendable in try temporary.store.read { try $0.count(of: "_JobOutput") } }
      let handle = try await temporary.queue.enqueue(DurableFetch(try items()))
      try await temporary.running { _ in
        try await temporary.waitForCommit { try pages() > 0 }
        try await handle.cancel()
        await #expect(throws: JobError.self) { try await handle.value }
      }
      #expect(try temporary.queue.status(handle.id)?.state == .cancelled)
      #expect(try pages() == 0)
      let wide = try items {
        let text = FetchExpression.value(.string(String(repeating: "x", count: 1_000)))
        $0.propertiesToFetch = [FetchProperty("text", text)]
      }
      #expect(try await temporary.refusal(of: DurableFetch(wide)).contains("export it"))
      #expect(try pages() == 0)
    }
  }

  // MARK: Exports

  @Test func anExportIsTheFileThatFetchWouldPrint() async throws {
    try await withStoreJobs { temporary in
      try await temporary.store.write { transaction in
        try transaction.insert("Item", ["name": "a\"b,c\n\u{1b}", "rank": 5])
        try transaction.insert("Item", ["name": ""])
      }
      let request = try items { $0.propertiesToFetch = ["name", "rank", "seenAt"] }
      let path = temporary.folder.path("out")
      try Data("old".utf8).write(to: URL(fileURLWithPath: path))
      let lines = try await temporary.value(of: ExportFetch(request, to: path))
      let json =
        "{\"name\":\"a\\\"b,c\\n\\u001b\",\"rank\":5,\"seenAt\":null}\n{\"name\":\"\",\"rank\":0,\"seenAt\":null}\n"
      #expect(try String(contentsOfFile: path, encoding: .utf8) == json)
      #expect(lines == .init(path: path, rows: 2, bytes: json.utf8.count))
      for (format, character) in [(ExportFetch.Format.exactCSV, "\u{1b}"), (.csv, "\u{FFFD}")] {
        _ = try await temporary.value(of: ExportFetch(request, to: path, format: format))
        let csv = "name,rank,seenAt\r\n\"a\"\"b,c\n\(character)\",5,\r\n\"\",0,\r\n"
        #expect(try String(contentsOfFile: path, encoding: .utf8) == csv)
      }
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
      #expect(mode as? Int == 0o600)
      #expect(try temporary.filesBeside(path) == ["out"])
    }
  }

  /// The file is a pipe that is full until it is read.
  @Test func anExportReportsProgressAndLeavesNothingWhenItIsCancelled() async throws {
    try await withStoreJobs { temporary in
      try await temporary.insertItems(Self.many)
      let path = temporary.folder.path("out.csv")
      let handle = try await temporary.queue.enqueue(
        ExportFetch(try items(), to: path, format: .csv))
      let pipe = "\(path).job-\(handle.id).partial"
      try #require(mkfifo(pipe, 0o600) == 0)
      let reader = open(pipe, O_RDONLY | O_NONBLOCK)
      try #require(reader >= 0)
      try await temporary.running { _ in
        for try await status in handle.updates where (status.progress.done ?? 0) > 0 {
          #expect(status.state == .running && status.progress.total == Int64(Self.many))
          break
        }
        try await handle.cancel()
        // The writer goes on, to its next look.
        drain(reader)
        let error = try await #require(throws: JobError.self) { try await handle.value }
        #expect(error.code == .cancelled)
      }
      #expect(try temporary.filesBeside(path).isEmpty)
    }
  }

  /// Reads a pipe until its last writer closes it, on a separate thread.
  private func drain(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, 0)
    Thread.detachNewThread {
      var bytes = [UInt8](repeating: 0, count: 64 << 10)
      while read(descriptor, &bytes, bytes.count) > 0 {}
      close(descriptor)
    }
  }

  @Test func anInterruptedExportBeginsAgain() async throws {
    try await withStoreJobs { temporary in
      try await temporary.insertItems(Self.many)
      let path = temporary.folder.path("out.jsonl")
      let handle = try await temporary.queue.enqueue(ExportFetch(try items(), to: path))
      // The file of an attempt that was killed.
      try Data(repeating: 0x78, count: 1 << 20).write(
        to: URL(fileURLWithPath: "\(path).job-\(handle.id).partial"))
      let output = try await temporary.running { _ in try await handle.value }
      let text = try String(contentsOfFile: path, encoding: .utf8)
      #expect(output.rows == Self.many && text.split(separator: "\n").count == Self.many)
      #expect(output.bytes == text.utf8.count)
      #expect(try temporary.filesBeside(path) == ["out.jsonl"])
    }
  }

  @Test func fetchesThatCannotSucceedAreRefusedAtOnce() async throws {
    try await withStoreJobs { temporary in
      let path = temporary.folder.path("out")
      let folder = temporary.folder.path("folder")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      let nobody = FetchRequest(entityName: "Nobody")
      let refusals = [
        try await temporary.refusal(of: DurableFetch(nobody)),
        try await temporary.refusal(of: DurableFetch(try items("nothing == 1"))),
        try await temporary.refusal(of: ExportFetch(nobody, to: path)),
        try await temporary.refusal(of: ExportFetch(try items(), to: "out")),
        try await temporary.refusal(of: ExportFetch(try items(), to: folder)),
        try await temporary.refusal(of: ExportFetch(try items(), to: path + "/no/out")),
      ]
      for refusal in refusals { #expect(!refusal.isEmpty && !refusal.contains("\n")) }
      #expect(try temporary.filesBeside(path) == ["folder"])
    }
  }
}

extension TemporaryStore {
  /// The content of the test's folder, except for the store.
  func filesBeside(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(
      atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path
    ).filter { $0 != "store" }.sorted()
  }
}
