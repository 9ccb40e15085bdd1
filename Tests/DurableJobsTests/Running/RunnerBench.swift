import DurableJobs
import EntityStore
import Foundation
import SystemSupport
import TestSupport

/// Runs `body` while a runner runs, and stops it at the end.
func withRunner<R>(
  _ store: Store, _ handlers: JobHandlers, options: RunnerOptions = RunnerOptions(),
  isolation: isolated (any Actor)? = #isolation,
  _ body: (JobRunner) async throws -> R
) async throws -> R {
  let runner = JobRunner(store, handlers, options: options)
  let run = Task { try await runner.run() }
  do {
    let result = try await body(runner)
    await runner.stop(within: .seconds(60))
    try await run.value
    return result
  } catch {
    await runner.stop(within: .zero)
    _ = await run.result
    throw error
  }
}

extension JobHandlers {
  /// A handler without an output.
  mutating func react<J: Job>(
    to type: J.Type, _ body: @escaping @Sendable (J, JobContext) async throws -> Void
  ) where J.Output == NoOutput {
    handle(type) { job, context -> NoOutput in
      try await body(job, context)
      return NoOutput()
    }
  }

  mutating func reactBlocking<J: Job>(
    to type: J.Type, _ body: @escaping @Sendable (J, JobContext) throws -> Void
  ) where J.Output == NoOutput {
    handleBlocking(type) { job, context -> NoOutput in
      try body(job, context)
      return NoOutput()
    }
  }
}

/// Ends when the task is cancelled, and only then.
func waitToBeCancelled() async throws {
  let (stream, continuation) = AsyncStream<Never>.makeStream()
  for await _ in stream {}
  withExtendedLifetime(continuation) {}
  throw CancellationError()
}

extension JobContext {
  /// The same for a handler that blocks and can only poll.
  func blockUntilCancelled() throws {
    while true {
      try checkCancellation()
      usleep(1_000)
    }
  }
}

extension JobHandlers {
  /// Numbered jobs that report their start, and end when the gate is open.
  static func waiting(at gate: Gate, begun: Events<Int>) -> JobHandlers {
    var handlers = JobHandlers()
    handlers.react(to: Numbered.self) { job, _ in
      begun.add(job.number)
      await gate.wait()
    }
    return handlers
  }
}

struct NotSeen: Error {}

extension JobQueue {
  /// Waits for the first status of a job that satisfies the condition, and returns it.
  @discardableResult
  func wait(for id: JobID, _ isRight: (JobStatus) -> Bool) async throws -> JobStatus {
    for try await status in updates(of: id) where isRight(status) { return status }
    throw NotSeen()
  }

  @discardableResult
  func wait(for id: JobID, in state: JobState) async throws -> JobStatus {
    try await wait(for: id) { $0.state == state }
  }
}

/// The events that handlers report to a test, in order.
final class Events<Event: Sendable>: Sendable {
  private let list = Locked<[Event]>([])
  private let stream: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func add(_ event: Event) {
    list.withLock { $0.append(event) }
    continuation.yield(event)
  }

  var all: [Event] { list.withLock { $0 } }

  /// Waits for this number of further events.
  func wait(for count: Int = 1) async {
    if count == 0 { return }
    var left = count
    for await _ in stream {
      left -= 1
      if left == 0 { return }
    }
  }
}

/// Keeps handlers waiting until the test opens it, even if they are cancelled.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}

/// A job with a number.
struct Numbered: Job {
  static let kind: JobKind = "test.numbered"
  var number: Int

  init(_ number: Int = 0) { self.number = number }
}

/// The same, of another kind.
struct Other: Job {
  static let kind: JobKind = "test.other"
  var number = 0
}

/// One that may try three times, and takes at most a twentieth of a second each time.
struct Hurried: Job {
  static let kind: JobKind = "test.hurried"
  static let policy = JobPolicy(
    attemptsMax: 3, timeout: .milliseconds(50),
    backoff: Backoff(base: .seconds(8), cap: .seconds(20)))
}

struct Broken: Error, CustomStringConvertible { var description: String { "broken" } }

/// The largest number that are inside at once.
final class Peak: Sendable {
  private let counts = Locked((now: 0, most: 0))

  func enter() {
    counts.withLock { counts in
      counts.now += 1
      counts.most = max(counts.most, counts.now)
    }
  }

  func leave() { counts.withLock { $0.now -= 1 } }
  var most: Int { counts.withLock { $0.most } }
}
