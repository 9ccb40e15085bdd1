import DurableJobs
import EntityStore
import FeedSync
import Foundation
import HomeFeed
import Migrations
import TestSupport
import Testing

/// Runs a body with a store that the command has created and a program has opened, too.
func withJobs<R>(
  isolation: isolated (any Actor)? = #isolation, _ body: (JobsStore) async throws -> R
) async throws -> R {
  try await withTemporaryFolder { folder in
    let path = folder.path("store")
    let made = try mooring("migrate", "up", store: path)
    guard made.status == 0 else { throw StartedTool.Hangs(description: made.errors) }
    let store = try Store.open(at: path, migrations: [.feeds, .homeFeed, .jobs])
    let result = try await body(JobsStore(path: path, store: store))
    #expect(try JobQueue(store).check().problems == [])
    return result
  }
}

struct JobsStore: Sendable {
  let path: String
  let store: Store

  var queue: JobQueue { JobQueue(store) }

  /// Runs `mooring jobs` on the store.
  func jobs(_ arguments: String...) async throws -> ToolRun {
    try await StartedTool("mooring", ["jobs"] + arguments, store: path).finished()
  }

  /// The number that `jobs enqueue` prints.
  func enqueue(_ arguments: String...) async throws -> JobID {
    let made = try await StartedTool("mooring", ["jobs", "enqueue"] + arguments, store: path)
      .finished()
    #expect(made.status == 0, "\(made.errors)")
    let number = try #require(made.output.split(whereSeparator: \.isWhitespace).last)
    return JobID(rawValue: try #require(Int64(number)))
  }

  func state(_ job: JobID) throws -> JobState? { try queue.status(job)?.state }

  /// Runs jobs in this process for as long as a body runs.
  func withRunner<R>(
    _ handlers: JobHandlers, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> R
  ) async throws -> R {
    var options = RunnerOptions()
    options.command = "tests"
    options.cancelGrace = .seconds(60)
    let runner = JobRunner(store, handlers, options: options)
    let running = Task { try await runner.run() }
    let result: R
    do {
      result = try await body()
    } catch {
      running.cancel()
      throw error
    }
    await runner.stop(within: .zero)
    try await running.value
    return result
  }

  /// Returns when a job has reached a state.
  func wait(for state: JobState, of job: JobID) async throws {
    for try await status in queue.updates(of: job) where status.state == state { return }
  }
}

func json(_ text: String) throws -> [String: Any] {
  try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
}

func jsonLines(_ text: String) throws -> [[String: Any]] {
  try text.split(separator: "\n").map { try json(String($0)) }
}

/// Returns a time in JSON without the fraction of its seconds.
func date(_ value: Any?) throws -> Date {
  let text = try #require(value as? String)
  return try Date(text.prefix(19) + "Z", strategy: .iso8601)
}

// MARK: Jobs

/// A job that returns its text.
struct Echo: Job {
  typealias Output = String
  static let kind: JobKind = "test.echo"
  var text: String
}

/// Fails.
struct Failing: Job {
  static let kind: JobKind = "test.failing"
}

/// A job that runs until it is cancelled.
struct Endless: Job {
  static let kind: JobKind = "test.endless"
  static let policy = JobPolicy(queue: "slow")
}

extension JobHandlers {
  static var ofTests: JobHandlers {
    var handlers = JobHandlers()
    handlers.handle(Echo.self) { job, _ in job.text }
    handlers.handle(Failing.self) { _, _ in throw JobStop.discard(because: "refused") }
    handlers.handle(Endless.self) { _, context in
      context.report(done: 1, of: 4, note: "begun")
      let (stream, continuation) = AsyncStream<Never>.makeStream()
      for await _ in stream {}
      withExtendedLifetime(continuation) {}
      throw CancellationError()
    }
    return handlers
  }
}
