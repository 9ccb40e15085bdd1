import EntityStore
import FeedSync
import Foundation
import Glibc
import HomeFeed
import LoopbackHTTP
import Synchronization
import TestSupport
import Testing

@Suite(.serialized) struct KillTests {
  /// Kills the syncing process right after a page was sent, or before it is answered, again and
  /// again, until a run comes to its end.
  @Test(arguments: [1, 2] as [UInt64])
  func aSyncThatIsKilledAgainAndAgainComesToTheStateOfAWholeOne(_ seed: UInt64) async throws {
    let pages = (0..<8).map { page in
      (0..<1_000).map { HomeFeedText.Item("ep:\(page)-\($0)", 1) }
    }
    let server = try PageServer(pages)
    defer { server.stop() }
    let whole = try await store(of: server) { try await sync($0, server) }

    var random = SeededRandom(seed: seed)
    let killed = try await store(of: server) { folder in
      var kills = 0
      while true {
        let wantsAnswer = Bool.random(using: &random)
        let killing = server.killAfter(Int.random(in: 1...2, using: &random), wantsAnswer)
        let url = server.url
        let end = try await onThread {
          let child = try ChildProcess(
            childExecutable(named: "store-child"), ["sync-feed", folder, url])
          killing(child.pid)
          let line = child.readLine()
          return (line: line, exit: child.waitForExit(), errors: child.readErrors())
        }
        if let line = end.line {
          #expect(line == "synced 8000 true", "seed \(seed)")
          break
        }
        #expect(end.exit.wasSignal, "seed \(seed): \(end.errors)")
        kills += 1
        try #require(kills < 100, "seed \(seed): no progress")
      }
      #expect(kills >= 4, "seed \(seed)")
    }
    #expect(killed == whole, "seed \(seed)")
  }

  private func sync(_ folder: String, _ server: PageServer) async throws {
    let store = try Store.open(at: folder, migrations: [.homeFeed, .feeds])
    let transport = try CurlTransport()
    defer { transport.shutdown() }
    let engine = SyncEngine(store: store, transport: transport)
    _ = try await engine.sync(try Feeds(store).find(server.url).id)
  }

  /// What a new store that has the server's feed holds after `body`.
  private func store(
    of server: PageServer, _ body: (String) async throws -> Void
  ) async throws -> [String] {
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      var options = Store.Options()
      options.mapSize = 1 << 30
      let store = try Store.open(
        at: path, migrations: [.homeFeed, .feeds], migrate: .ifEmpty, options: options)
      try await Feeds(store).add(server.url)
      try await body(path)
      let report = try store.checkIntegrity()
      #expect(report.isClean, "\(report.problems)")
      #expect(try store.records(of: "_ChunkedWrite").isEmpty)
      #expect(try store.records(of: "_SyncPage").isEmpty)
      return try store.contentDump()
    }
  }
}

/// Runs what blocks on a thread of its own: the tests share few.
private func onThread<R: Sendable>(
  _ body: @escaping @Sendable () throws -> R
) async throws -> R {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
  }
}

/// Serves pages, and kills a process at a certain request.
private final class PageServer: Sendable {
  private struct Plan {
    var requestsLeft = Int.max
    var wantsAnswer = false
    var pid: Int32?
  }

  private final class State: Sendable {
    let plan = Mutex(Plan())

    /// The process to kill at this request, and whether it gets its answer first.
    func due() -> (pid: Int32, wantsAnswer: Bool)? {
      plan.withLock { plan in
        plan.requestsLeft -= 1
        guard plan.requestsLeft == 0, let pid = plan.pid else { return nil }
        return (pid, plan.wantsAnswer)
      }
    }
  }

  private let server: LoopbackServer
  private let state: State
  var url: String { server.url + "/home" }

  init(_ pages: [[HomeFeedText.Item]]) throws {
    let texts = HomeFeedText.pages(pages, url: "/home").map(\.text)
    let state = State()
    self.state = state
    server = try LoopbackServer { request, connection in
      let number = request.queryValue("page").flatMap(Int.init) ?? 0
      let due = state.due()
      if let due, !due.wantsAnswer { Glibc.kill(due.pid, SIGKILL) }
      try connection.send(Response(text: texts[number]))
      if let due, due.wantsAnswer { Glibc.kill(due.pid, SIGKILL) }
    }
  }

  /// - Returns: To be called with the process, before which no request is counted.
  func killAfter(_ requests: Int, _ wantsAnswer: Bool) -> @Sendable (Int32) -> Void {
    state.plan.withLock { $0 = Plan(requestsLeft: requests, wantsAnswer: wantsAnswer) }
    return { [state] pid in state.plan.withLock { $0.pid = pid } }
  }

  func stop() { server.stop() }
}
