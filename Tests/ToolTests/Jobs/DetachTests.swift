import DurableJobs
import EntityModel
import EntityStore
import FeedSync
import Foundation
import StoreJobs
import TestSupport
import Testing

/// The option `--detach`: the command is enqueued as a job.
@Suite(.timeLimit(.minutes(10))) struct DetachTests {
  @Test func aRunnerRunsTheJobThatEachVerbEnqueues() async throws {
    try await withTemporaryFolder { folder in
      try await withJobs { store in
        let items = folder.path("items.jsonl")
        let item = #"{"id":"x:1","title":"mine","type":1,"updatedAt":"2026-01-01T00:00:00Z"}"#
        try Data((item + "\n").utf8).write(to: URL(fileURLWithPath: items))
        try makeMigration(in: folder.path("migrations"))
        let (csv, backup) = (folder.path("out.csv"), folder.path("backup"))
        let verbs: [(kind: String, arguments: [String])] = [
          ("batch.insert", ["batch", "insert", "Episode", items]),
          (
            "batch.update",
            ["batch", "update", "Episode", "--where", "type == 1", "--set", "favoriteAt=now"]
          ),
          ("fetch.export", ["fetch", "Episode", "--format", "csv", "--export", csv]),
          ("store.check", ["check"]),
          ("store.backup", ["backup", backup]),
          ("index.build", ["migrate", "up", "--migrations", folder.path("migrations")]),
          ("batch.delete", ["batch", "delete", "Episode", "--where", "type == 1"]),
        ]
        for (number, verb) in verbs.enumerated() {
          let run = try await StartedTool(
            "mooring", verb.arguments + ["--detach"], store: store.path
          )
          .finished()
          #expect(run.status == 0 && run.output == "job \(number + 1)\n", "\(run.errors)")
          let job = JobID(rawValue: Int64(number + 1))
          #expect(try store.queue.status(job)?.kind == verb.kind)
        }
        var handlers = JobHandlers()
        handlers.handleStoreJobs()
        try await store.withRunner(handlers) {
          for number in verbs.indices {
            let job = JobID(rawValue: Int64(number + 1))
            for try await status in store.queue.updates(of: job) where status.state.isFinished {
              #expect(status.state == .succeeded, "\(verbs[number].kind): \(status.error ?? "")")
            }
          }
        }
        #expect(FileManager.default.fileExists(atPath: backup + "/data.mdb"))
        #expect(try String(contentsOfFile: csv, encoding: .utf8).contains("title"))
      }
    }
  }

  @Test func aSyncAndACompactionAreEnqueuedForTheWorker() async throws {
    try await withJobs { store in
      try await Feeds(store.store).add("http://127.0.0.1:9/feed")
      let sync = try await StartedTool("mooring", ["sync", "--detach"], store: store.path)
        .finished()
      #expect(sync.status == 0 && sync.output == "job 1\n", "\(sync.errors)")
      let compact = try await StartedTool("mooring", ["compact", "--detach"], store: store.path)
        .finished()
      #expect(compact.status == 0 && compact.output == "job 2\n", "\(compact.errors)")
      let kinds = try store.queue.list().map(\.kind)
      #expect(kinds == ["store.compact", "feed.sync"])
    }
  }

  private func makeMigration(in folder: String) throws {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: nil)
    let text = """
      line: local
      summary: An index of one's own
      older: write
      steps:
        - createIndex: { on: Episode, name: byTitle, keys: [title] }

      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/0001_by_title.yaml"))
  }
}
