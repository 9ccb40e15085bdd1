import Foundation
import LoopbackHTTP
import Synchronization
import TestSupport
import Testing

/// `mooring sync` as a process against servers that misbehave.
@Suite struct SyncProcessTests {
  @Test func aNewURLIsAddedSyncedAndCounted() throws {
    let server = try SampleFeed.server()
    defer { server.stop() }
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      let run = try mooring("sync", server.url + "/feed", "--format", "csv", store: store)
      #expect(run.status == 0)
      #expect(run.errors == "mooring: added the feed \(server.url)/feed\n")
      let rows = CommaSeparated.rows(of: run.output)
      #expect(rows[0].prefix(6) == ["feed", "outcome", "new", "changed", "unchanged", "deleted"])
      #expect(rows[1].prefix(6) == ["\(server.url)/feed", "full", "6", "0", "0", "0"])
      let again = try mooring("sync", "1", "--full", "--format", "csv", store: store)
      #expect(again.status == 0 && again.errors.isEmpty)
      #expect(CommaSeparated.rows(of: again.output)[1][2...5] == ["0", "0", "6", "0"])
    }
  }

  @Test func theSecondOfTwoRunsOfAFeedIsBusy() throws {
    let asked = try Signal()
    let mayContinue = try Signal()
    let body = try SampleFeed.document()
    let server = try LoopbackServer { _, connection in
      asked.fire()
      try connection.stall(until: mayContinue)
      try connection.send(SampleFeed.json(body))
    }
    defer { server.stop() }
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      let url = server.url + "/feed"
      #expect(try mooring("feed", "add", url, store: store).status == 0)
      let first = try StartedTool("mooring", ["sync", url], store: store)
      try asked.wait()
      expectFailure(try mooring("sync", url, store: store), 75, "process: \(first.pid)")
      // Another writer need not wait for it.
      #expect(try mooring("feed", "add", url + "/other", store: store).status == 0)
      mayContinue.fire()
      #expect(try first.finish().status == 0)
      #expect(try mooring("sync", url, store: store).status == 0)
      #expect(try mooring("check", store: store).status == 0)
    }
  }

  @Test func anInterruptKeepsTheCommittedPages() throws {
    let asked = try Signal()
    let mayContinue = try Signal()
    let isInterrupted = Atomic(false)
    let titles = (0..<1_200).map { "title \($0)" }
    let server = try LoopbackServer { request, connection in
      let base = "http://\(request.header("Host") ?? "")/feed"
      if request.target.contains("page=2") {
        if !isInterrupted.load(ordering: .relaxed) {
          asked.fire()
          return try connection.stall(until: mayContinue)
        }
        return try connection.send(SampleFeed.json(try SampleFeed.document(version: 9)))
      }
      let first = try SampleFeed.document(titles: titles, next: base + "?page=2")
      try connection.send(SampleFeed.json(first))
    }
    defer { server.stop() }
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      let url = server.url + "/feed"
      #expect(try mooring("feed", "add", url, store: store).status == 0)
      let sync = try StartedTool("mooring", ["sync", url], store: store)
      try asked.wait()
      while try mooring("fetch", "Episode", "--count", store: store).output == "0\n" {}
      kill(sync.pid, SIGINT)
      let stopped = try sync.finish()
      expectFailure(stopped, 130, "interrupted; what was committed stays")
      #expect(try mooring("fetch", "Episode", "--count", store: store).output == "1200\n")
      isInterrupted.store(true, ordering: .relaxed)
      mayContinue.fire()
      let next = try mooring("sync", url, "--format", "csv", store: store)
      #expect(next.status == 0 && next.output.contains("full, resumed"), "\(next.errors)")
      #expect(try mooring("check", store: store).status == 0)
    }
  }

  @Test func anInterruptReportsTheRunsThatWereCompleted() throws {
    let asked = try Signal()
    let mayContinue = try Signal()
    let server = try LoopbackServer { request, connection in
      if request.target.contains("second") {
        asked.fire()
        return try connection.stall(until: mayContinue)
      }
      try connection.send(SampleFeed.json(try SampleFeed.document(titles: ["a", "b"])))
    }
    defer { server.stop() }
    try withTemporaryFolder { folder in
      let (store, urls) = (folder.path("store"), ["/first", "/second"].map { server.url + $0 })
      let sync = try StartedTool("mooring", ["sync"] + urls + ["--format", "jsonl"], store: store)
      try asked.wait()
      kill(sync.pid, SIGINT)
      let stopped = try sync.finish()
      mayContinue.fire()
      #expect(stopped.status == 130, "\(stopped.errors)")
      let lines = stopped.output.split(separator: "\n")
      #expect(lines.count == 1 && lines[0].contains(#""feed":"\#(urls[0])""#), "\(lines)")
      #expect(stopped.errors.contains("interrupted; what was committed stays"))
      #expect(try mooring("check", store: store).status == 0)
    }
  }

  @Test func aSecondSyncOfAnUnknownURLIsBusyAndLeavesItToTheFirst() throws {
    let asked = try Signal()
    let mayContinue = try Signal()
    let server = try LoopbackServer { _, connection in
      asked.fire()
      try connection.stall(until: mayContinue)
      try connection.send(SampleFeed.json(try SampleFeed.document(titles: ["a"])))
    }
    defer { server.stop() }
    try withTemporaryFolder { folder in
      let (store, url) = (folder.path("store"), server.url + "/feed")
      let first = try StartedTool("mooring", ["sync", url], store: store)
      try asked.wait()
      let second = try mooring("sync", url, store: store)
      mayContinue.fire()
      expectFailure(second, 75, "the feed is being synced already")
      #expect(!second.errors.contains("was not added"))
      #expect(try first.finish().errors.contains("added the feed \(url)"))
      #expect(try mooring("check", store: store).status == 0)
    }
  }

  @Test func anUnreachableServerIsARetryableError() throws {
    let gone = try LoopbackServer { _, _ in }
    gone.stop()
    try withSampleStore { store in
      for url in ["http://127.0.0.1:\(gone.port)/feed", "http://no-such-host.invalid/feed"] {
        let run = try mooring("sync", url, "--quiet", store: store)
        expectFailure(run, 75, "\(url) was not added: the server cannot be reached")
        #expect(run.lines.count == 2 && run.lines[1].hasPrefix("\(url)  failed  "))
      }
      #expect(try mooring("feed", "list", "--format", "jsonl", store: store).lines.count == 1)
      #expect(try mooring("check", store: store).status == 0)
    }
  }

  @Test func aTokenFileThatIsMissingIsNamed() throws {
    let server = try SampleFeed.server()
    defer { server.stop() }
    try withTemporaryFolder { folder in
      let (store, token) = (folder.path("store"), folder.path("token"))
      let url = server.url + "/feed"
      #expect(
        try mooring("feed", "add", url, "--token-file", token, store: store).status == 0)
      expectFailure(try mooring("sync", store: store), 69, token)
      #expect(server.requests.isEmpty)
      try Data("secret\n".utf8).write(to: URL(fileURLWithPath: token))
      #expect(try mooring("sync", store: store).status == 0)
      #expect(server.requests.last?.header("Authorization") == "Bearer secret")
    }
  }

  /// Committed pages stay, whatever happens next.
  @Test(arguments: ["cut", "noise", "endless", "lying length", "no object"])
  func aBadDocumentLosesNothing(_ kind: String) throws {
    let document = try SampleFeed.document()
    let answers = Answers()
    let server = try LoopbackServer { _, connection in
      guard answers.next() > 1 else {
        return try connection.send(SampleFeed.json(document))
      }
      switch kind {
      case "cut": try connection.send(SampleFeed.json(Array(document.dropLast(40))))
      case "noise":
        var random = SeededRandom(seed: 5)
        try connection.send(SampleFeed.json(random.bytes(count: 10_000)))
      case "no object": try connection.send(SampleFeed.json(Array("[1,2,3]".utf8)))
      case "lying length":
        try connection.sendHead(
          headers: [("Content-Type", "application/json"), ("Content-Length", "99999")])
        try connection.sendRaw(document)
        connection.close()
      default:
        try connection.sendHead(headers: [("Content-Type", "application/json")])
        let chunk = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20)
        // The client leaves at its limit; this is the server's end if it never does.
        for _ in 0..<1_000 { try connection.sendChunk(chunk) }
      }
    }
    defer { server.stop() }
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      let url = server.url + "/feed"
      #expect(try mooring("sync", url, store: store).status == 0)
      let before = try mooringDump("records", "Episode", store: store).output
      let run = try mooring("sync", url, store: store)
      // A connection that breaks off says nothing about the document.
      expectFailure(run, kind == "lying length" ? 75 : 65)
      #expect(try mooringDump("records", "Episode", store: store).output == before)
      #expect(try mooring("check", store: store).status == 0)
    }
  }
}

private final class Answers: @unchecked Sendable {
  // SAFETY: `count` is touched only with the lock held.
  private let lock = NSLock()
  private var count = 0

  func next() -> Int {
    lock.withLock {
      count += 1
      return count
    }
  }
}
