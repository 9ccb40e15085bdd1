import Foundation
import LoopbackHTTP
import Testing

@testable import bench

@Suite("The whole job and the whole process")
struct SyncTests {
  @Test("Each candidate ends with the feed's rows, and fetches nothing after a 304")
  func syncs() async throws {
    let episodes = try feed(rows: 2500)
    let server = try serve(episodes, rowsPerPage: 400)
    defer { server.stop() }
    for name in CandidateName.syncing {
      let candidate = try name.makeSync()
      try await withFolder { folder in
        try await candidate.open(in: folder, feed: server.url + FeedPages.path)
        let first = try await candidate.sync(SyncTurn(rowsPerCommit: 1_000))
        guard case .synced(2500, let commits) = first else {
          Issue.record("\(name): \(first)")
          return
        }
        // Pages that come at once share a commit of Mooring.
        #expect(name == .mooring ? (1...3).contains(commits) : commits == 3, "\(name)")
        try SyncCheck(episodes: episodes).run(candidate.copy)

        guard case .synced(2500, _) = try await candidate.sync(SyncTurn()) else {
          Issue.record("\(name): a full sync was none")
          return
        }
        try SyncCheck(episodes: episodes).run(candidate.copy)

        let asked = server.requests.count
        #expect(try await candidate.sync(SyncTurn(isFull: false)) == .notModified, "\(name)")
        #expect(server.requests.count == asked + 1, "\(name)")
        try SyncCheck(episodes: episodes).run(candidate.copy)
        try candidate.close()
      }
    }
  }

  @Test("A copy that has one value too little is caught")
  func mismatch() async throws {
    var episodes = try feed(rows: 1000)
    let server = try serve(episodes, rowsPerPage: 1000)
    defer { server.stop() }
    let candidate = try CandidateName.raw.makeSync()
    try await withFolder { folder in
      try await candidate.open(in: folder, feed: server.url + FeedPages.path)
      _ = try await candidate.sync(SyncTurn())
      episodes[700].watchedAt = episodes[700].watchedAt == nil ? 7 : nil
      let error = try #require(throws: BenchError.self) {
        try SyncCheck(episodes: episodes).run(candidate.copy)
      }
      #expect(error.code == .mismatch)
      try candidate.close()
    }
  }

  @Test(
    "Times are written in whole seconds of UTC",
    arguments: [
      (0, "2001-01-01T00:00:00Z"), (780_000_000, "2025-09-19T18:40:00Z"),
      (-978_307_199, "1970-01-01T00:00:01Z"), (5_097_599, "2001-02-28T23:59:59Z"),
    ])
  func times(date: Double, text: String) {
    #expect(FeedTime.text(date) == text)
  }

  @Test("A program is run to its end, and one that fails is an error")
  func programs() throws {
    let (output, seconds) = try TimedProgram("/bin/sh", ["-c", "echo one; echo two"]).run()
    #expect(output == "one\ntwo\n")
    #expect(seconds > 0)
    #expect(!TimedProgram("/bin/none", []).exists)
    for (script, ending) in [("exit 7", "exit status 7"), ("kill -9 $$", "signal 9")] {
      let error = try #require(throws: BenchError.self) {
        try TimedProgram("/bin/sh", ["-c", script]).run()
      }
      #expect(error.code == .candidate)
      #expect(error.description.hasSuffix(ending))
    }
  }

  private func feed(rows: Int) throws -> [Episode] {
    try Workload(rows: rows, seed: 21).rows(0..<rows).episodes.map(\.inWholeSeconds)
  }

  private func serve(_ episodes: [Episode], rowsPerPage: Int) throws -> LoopbackServer {
    let answers = FeedAnswers(FeedPages(episodes: episodes, rowsPerPage: rowsPerPage))
    return try LoopbackServer { try $1.send(answers.answer(to: $0)) }
  }
}
