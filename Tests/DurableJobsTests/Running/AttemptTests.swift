import DurableJobs
import EntityModel
import EntityStore
import Foundation
import Migrations
import SystemSupport
import TestSupport
import Testing

/// The outcomes of attempts.
@Suite(.timeLimit(.minutes(10))) struct AttemptTests {
  struct Doubled: Job {
    static let kind: JobKind = "test.doubled"
    typealias Output = Int
    var number: Int
  }

  @Test(arguments: [true, false])
  func aHandlersValueIsTheJobsOutput(blocks: Bool) async throws {
    try await withTemporaryJobs { temporary in
      var handlers = JobHandlers()
      if blocks {
        handlers.handleBlocking(Doubled.self) { job, _ in job.number * 2 }
      } else {
        handlers.handle(Doubled.self) { job, _ in job.number * 2 }
      }
      try await withRunner(temporary.store, handlers) { _ in
        let handle = try await JobQueue(temporary.store).enqueue(Doubled(number: 21))
        #expect(try await handle.value == 42)
        #expect(try JobQueue(temporary.store).status(handle.id)?.attempts == 1)
      }
    }
  }

  @Test func aFailedJobWaitsForARandomPartOfItsBound() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      var handlers = JobHandlers()
      handlers.react(to: Failing.self) { _, _ in throw Broken() }
      var options = RunnerOptions()
      options.random = { 0.75 }
      try await withRunner(temporary.store, handlers, options: options) { runner in
        let id = try await queue.enqueue(Failing()).id
        // Three quarters of 8, 16, and of 20, which is the most.
        for (failures, wait) in [(1, 6.0), (2, 12), (3, 15)] {
          let status = try await queue.wait(for: id) {
            $0.state == .scheduled && $0.attempts == failures
          }
          #expect(status.runAt.timeIntervalSince(temporary.clock.now) == wait)
          #expect(status.error == "broken")
          temporary.clock.advance(by: wait)
          runner.wake()
        }
        try await queue.wait(for: id, in: .discarded)
        let attempts = try queue.attempts(of: id)
        #expect(attempts.map(\.number) == [1, 2, 3, 4])
        #expect(attempts.allSatisfy { $0.outcome == "failed" && $0.error == "broken" })
      }
    }
  }

  struct Failing: Job {
    static let kind: JobKind = "test.failing"
    static let policy = JobPolicy(
      attemptsMax: 4, backoff: Backoff(base: .seconds(8), cap: .seconds(20)))
  }

  @Test func aHandlerDecidesWhatHappensToItsJob() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      var handlers = JobHandlers()
      handlers.react(to: Numbered.self) { job, _ in
        switch job.number {
        case 0: throw JobStop.retry(after: .seconds(90), because: "busy")
        case 1: throw JobStop.discard(because: "never")
        default: throw JobStop.snooze(for: .seconds(30))
        }
      }
      try await withRunner(temporary.store, handlers) { _ in
        let retried = try await queue.enqueue(Numbered(0)).id
        let discarded = try await queue.enqueue(Numbered(1)).id
        let snoozed = try await queue.enqueue(Numbered(2)).id
        var status = try await queue.wait(for: retried, in: .scheduled)
        #expect(status.runAt == temporary.clock.now.addingTimeInterval(90))
        #expect(status.attempts == 1 && status.error == "busy")
        status = try await queue.wait(for: discarded, in: .discarded)
        #expect(status.attempts == 1 && status.error == "never")
        status = try await queue.wait(for: snoozed, in: .scheduled)
        #expect(status.runAt == temporary.clock.now.addingTimeInterval(30))
        #expect(status.attempts == 0 && status.error == nil)
      }
    }
  }

  @Test func aPayloadThatCannotBeReadDiscardsItsJobAtOnce() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      var handlers = JobHandlers()
      handlers.react(to: Numbered.self) { _, _ in }
      try await withRunner(temporary.store, handlers) { _ in
        for payload in ["{\"number\":\"x\"}", "{", ""] {
          let request = JobRequest(kind: Numbered.kind, payload: Data(payload.utf8))
          let id = try await queue.enqueue(request).id
          let status = try await queue.wait(for: id, in: .discarded)
          #expect(status.error?.hasPrefix("the payload cannot be read as Numbered: ") == true)
          #expect(status.attempts == 1)
        }
      }
    }
  }

  @Test(arguments: [true, false])
  func anAttemptThatTakesTooLongFails(blocks: Bool) async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      var handlers = JobHandlers()
      if blocks {
        handlers.reactBlocking(to: Hurried.self) { _, context in
          try context.blockUntilCancelled()
        }
      } else {
        handlers.react(to: Hurried.self) { _, _ in try await waitToBeCancelled() }
      }
      try await withRunner(temporary.store, handlers) { _ in
        let id = try await queue.enqueue(Hurried()).id
        let status = try await queue.wait(for: id, in: .scheduled)
        #expect(status.attempts == 1 && status.error == "took longer than 0.05 s")
      }
    }
  }

  /// Counts how often the runner reads the clock, once per turn.
  @Test func anOverdueAttemptThatDoesNotEndCausesNoBusyLoop() async throws {
    try await withTemporaryFolder { folder in
      let asked = Locked(0)
      var storeOptions = Store.Options()
      storeOptions.mapSize = 1 << 30
      storeOptions.now = {
        asked.withLock { $0 += 1 }
        return Date()
      }
      let store = try Store.open(
        at: folder.path("store"), migrations: [.jobs], migrate: .ifEmpty, options: storeOptions)
      let gate = Gate()
      let cancelled = Events<Void>()
      var handlers = JobHandlers()
      handlers.react(to: Hurried.self) { _, _ in
        await withTaskCancellationHandler {
          await gate.wait()
        } onCancel: {
          cancelled.add(())
        }
      }
      try await withRunner(store, handlers) { _ in
        try await JobQueue(store).enqueue(Hurried())
        await cancelled.wait()
        let before = asked.withLock { $0 }
        // That nothing happens has no signal, so a while is waited for. A runner that goes round
        // and round asks some thousands of times meanwhile; on a slow machine fewer, and then less
        // is proved.
        try await Task.sleep(for: .milliseconds(300))
        #expect(asked.withLock { $0 } - before < 100)
        gate.open()
      }
    }
  }
}
