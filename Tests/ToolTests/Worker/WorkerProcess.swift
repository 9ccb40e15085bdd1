import DurableJobs
import EntityModel
import EntityStore
import FeedSync
import Foundation
import Glibc
import HomeFeed
import LegacyImport
import Migrations
import StatusModel
import StoreFigures
import TestSupport
import Testing

/// `mooring worker` as a process, with a notify socket that the test listens at.
final class WorkerProcess {
  /// The notifications that systemd has received.
  let notified = Journal()
  private let socket: NotifySocket
  private let tool: StartedTool

  /// - Parameter environment: More variables, such as `WATCHDOG_USEC`.
  init(
    _ arguments: [String] = [], store: String, environment: [String: String] = [:]
  ) throws {
    let name = "@mooring-worker-\(UUID().uuidString)"
    socket = try NotifySocket(name)
    socket.keep(in: notified)
    tool = try StartedTool(
      "mooring", ["worker", "--jitter", "0", "--host-spacing", "0s"] + arguments, store: store,
      environment: ["NOTIFY_SOCKET": name].merging(environment) { $1 })
  }

  deinit { socket.end() }

  var pid: Int32 { tool.pid }

  func signal(_ number: Int32) { kill(pid, number) }

  /// Waits for the end of the process, which the test has requested.
  func finish() throws -> ToolRun { try tool.finish() }

  /// Runs `body` with a worker that is ready, and lets it drain at the end.
  static func run(
    _ arguments: [String] = [], store: String, environment: [String: String] = [:],
    isolation: isolated (any Actor)? = #isolation, _ body: (WorkerProcess) async throws -> Void
  ) async throws {
    let worker = try WorkerProcess(arguments, store: store, environment: environment)
    do {
      try await worker.notified.wait(for: "READY=1")
      try await body(worker)
    } catch {
      worker.signal(SIGKILL)
      print(try worker.finish().errors)
      throw error
    }
    worker.signal(SIGTERM)
    let run = try worker.finish()
    #expect(run.status == 0, "\(run.errors)")
    #expect(worker.notified.lines.contains("STOPPING=1"))
  }
}

/// Opens a store as `mooring` does.
func openStoreOfTool(_ folder: String) throws -> Store {
  var options = Store.Options()
  options.mapSize = 1 << 30
  options.flushesCommits = false
  return try Store.open(
    at: folder, migrations: [.jobs, .feeds, .homeFeed, .legacyImport, .figures, .actions],
    migrate: .ifEmpty, options: options)
}

extension Store {
  /// Looks at the store now and after each commit of any process, until it is as it should be.
  func wait(_ isDone: (ReadTransaction) throws -> Bool) async throws {
    let commits = try commits.observe()
    var seen = 0
    while true {
      seen = try await commits.next(after: seen)
      if try read(isDone) { return }
    }
  }

  /// Waits until a job has a state; a job that has ended with another one fails the test.
  @discardableResult
  func wait(for job: JobID, toBe state: JobState) async throws -> JobStatus {
    for try await status in JobQueue(self).updates(of: job) {
      if status.state == state { return status }
      try #require(!status.state.isFinished, "\(status)")
    }
    throw CancellationError()
  }
}
