import EntityModel
import EntityStore
import Foundation
import Migrations
import SystemSupport
import TestSupport
import Testing

@testable import DurableJobs

/// The stop of runners, and several runners of one store.
@Suite(.timeLimit(.minutes(10))) struct StoppingTests {
  @Test func aStopWaitsWithinTheBoundAndStartsNothing() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      let begun = Events<Void>()
      let gate = Gate()
      var handlers = JobHandlers()
      handlers.react(to: Numbered.self) { _, context in
        begun.add(())
        await gate.wait()
        #expect(!context.isCancelled)
      }
      let runner = JobRunner(temporary.store, handlers)
      async let run: Void = runner.run()
      let first = try await queue.enqueue(Numbered())
      await begun.wait()
      await runner.stop(within: .seconds(3_600))
      let second = try await queue.enqueue(Numbered())
      gate.open()
      try await run
      #expect(try queue.status(first.id)?.state == .succeeded)
      #expect(try queue.status(second.id)?.state == .ready)
      #expect(try queue.runners().isEmpty)
    }
  }

  @Test(arguments: [false, true])
  func unfinishedJobsAreHandedBackAndTheAttemptDoesNotCount(cancelsTask: Bool) async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      let begun = Events<Void>()
      var handlers = JobHandlers()
      handlers.react(to: Numbered.self) { _, _ in
        begun.add(())
        try await waitToBeCancelled()
      }
      handlers.reactBlocking(to: Other.self) { _, context in
        begun.add(())
        try context.blockUntilCancelled()
      }
      // However slow the machine is, the handlers end before they are given up.
      var options = RunnerOptions()
      options.cancelGrace = .seconds(3_600)
      let runner = JobRunner(temporary.store, handlers, options: options)
      let run = Task { try await runner.run() }
      let ids = [
        try await queue.enqueue(Numbered()).id, try await queue.enqueue(Other()).id,
      ]
      await begun.wait(for: 2)
      // Its cancellation has promised that it does not run again.
      let third = try await queue.enqueue(Numbered()).id
      await begun.wait()
      if cancelsTask { run.cancel() } else { await runner.stop(within: .zero) }
      try await run.value
      for id in ids + [third] {
        let status = try queue.status(id)
        #expect(status?.state == .ready && status?.attempts == 0 && status?.rescues == 0)
      }
      #expect(try queue.runners().isEmpty)
    }
  }

  @Test func aHandlerThatDoesNotEndKeepsItsClaimAsLongAsItRuns() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      let begun = Events<Int>()
      let gate = Gate()
      let handlers = JobHandlers.waiting(at: gate, begun: begun)
      var options = RunnerOptions()
      options.cancelGrace = .milliseconds(50)
      var runner: JobRunner? = JobRunner(temporary.store, handlers, options: options)
      let run = Task { [runner] in try await runner?.run() }
      let id = try await queue.enqueue(Numbered()).id
      await begun.wait()
      await runner?.stop(within: .zero)
      try await run.value
      runner = nil
      // The runner is gone, and the handler lives.
      #expect(try queue.status(id)?.state == .running)
      #expect(try queue.runners().map(\.isAlive) == [true])
      try await withRunner(temporary.store, handlers) { _ in
        _ = try await queue.enqueue(Other())
        #expect(begun.all.count == 1)
        gate.open()
        let status = try await queue.wait(for: id, in: .succeeded)
        #expect(status.rescues == 0)
        #expect(try queue.attempts(of: id).map(\.outcome) == ["interrupted"])
      }
    }
  }

  @Test func cancelledHandlersThatDoNotEndAreReported() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      let begun = Events<Void>()
      let gate = Gate()
      let conditions = Events<RunnerCondition>()
      var options = RunnerOptions()
      options.cancelGrace = .milliseconds(20)
      options.onCondition = { conditions.add($0) }
      var handlers = JobHandlers()
      handlers.react(to: Numbered.self) { _, _ in
        begun.add(())
        await gate.wait()
        try Task.checkCancellation()
      }
      try await withRunner(temporary.store, handlers, options: options) { _ in
        let handle = try await queue.enqueue(Numbered())
        await begun.wait()
        try await handle.cancel()
        await conditions.wait()
        #expect(conditions.all == [.stuck(1)])
        gate.open()
        try await queue.wait(for: handle.id, in: .cancelled)
        await conditions.wait()
        #expect(conditions.all == [.stuck(1), .working])
      }
    }
  }

  @Test func twoRunnersOfOneStoreRunNoJobTwice() async throws {
    try await withTemporaryJobs { temporary in
      let (store, queue) = (temporary.store, JobQueue(temporary.store))
      let ended = Events<Int>()
      var handlers = JobHandlers()
      handlers.react(to: Numbered.self) { job, context in
        _ = try await context.complete { transaction in
          // The name is unique.
          try transaction.insert("Sample", ["name": .string("effect \(job.number)")])
          return NoOutput()
        }
        ended.add(job.number)
      }
      let jobs = 300
      try await withRunner(store, handlers) { _ in
        try await withRunner(store, handlers) { _ in
          for number in 0..<jobs { try await queue.enqueue(Numbered(number)) }
          await ended.wait(for: jobs)
        }
      }
      #expect(Set(ended.all).count == jobs && ended.all.count == jobs)
      #expect(try store.read { try $0.count(of: "Sample") } == jobs)
      let statuses = try queue.list(Self.all)
      #expect(statuses.count == jobs)
      #expect(statuses.allSatisfy { $0.state == .succeeded && $0.attempts == 1 })
    }
  }

  private static let all: JobFilter = {
    var filter = JobFilter()
    filter.limit = .max
    return filter
  }()

  // MARK: Stores in trouble

  @Test func aRunnerWhoseStoreIsClosedEndsWithThatError() async throws {
    try await withTemporaryJobs { temporary in
      let store = try openStore(
        at: temporary.store.folder, migrations: [.model, .jobs], migrate: .never)
      let begun = Events<Void>()
      var handlers = JobHandlers()
      handlers.react(to: Numbered.self) { _, _ in
        begun.add(())
        try await waitToBeCancelled()
      }
      let runner = JobRunner(store, handlers)
      let run = Task { try await runner.run() }
      try await JobQueue(store).enqueue(Numbered())
      await begun.wait()
      store.close()
      let error = await #expect(throws: StoreError.self) { try await run.value }
      #expect(error?.code == .closed)
    }
  }

  @Test func aFullMapPausesTheRunnerAndNoResultIsLost() async throws {
    try await withTemporaryFolder { folder in
      let store = try openStore(
        at: folder.path("store"), migrations: [.model, .jobs], mapSize: 2 << 20)
      // While an old snapshot is read, none of its pages is used again.
      let snapshot = HeldSnapshot(store)
      try await Self.outlast(store) {
        try await fill(store)
      } makeRoom: {
        snapshot.release()
      }
    }
  }

  @Test func aFullDevicePausesTheRunnerAndNoResultIsLost() async throws {
    try await withTemporaryFolder { folder in
      guard let device = try folder.mountDevice(size: "4m") else { return }
      defer { unmountDevice(device) }
      let ballast = URL(fileURLWithPath: device + "/ballast")
      try Data(repeating: 1, count: 1 << 20).write(to: ballast)
      let store = try openStore(at: device + "/store", migrations: [.model, .jobs])
      try await Self.outlast(store) {
        try await fill(store)
      } makeRoom: {
        try FileManager.default.removeItem(at: ballast)
      }
    }
  }

  /// Lets jobs end while nothing can be written.
  private static func outlast(
    _ store: Store, fill: () async throws -> Void, makeRoom: () async throws -> Void
  ) async throws {
    let queue = JobQueue(store)
    let begun = Events<Int>()
    let gate = Gate()
    let conditions = Events<RunnerCondition>()
    var options = RunnerOptions()
    options.onCondition = { conditions.add($0) }
    var handlers = JobHandlers()
    handlers.handle(AttemptTests.Doubled.self) { job, _ in
      begun.add(job.number)
      await gate.wait()
      return job.number * 2
    }
    try await withRunner(store, handlers, options: options) { _ in
      var handles: [JobHandle<AttemptTests.Doubled>] = []
      for number in 0..<4 {
        handles.append(try await queue.enqueue(AttemptTests.Doubled(number: number)))
      }
      await begun.wait(for: 4)
      try await fill()
      gate.open()
      await conditions.wait()
      guard case .blocked(let reason) = try #require(conditions.all.first) else {
        Issue.record("it is \(conditions.all)")
        return
      }
      #expect(!reason.contains("\n"))
      try await makeRoom()
      for (number, handle) in handles.enumerated() {
        #expect(try await handle.value == number * 2)
      }
      await conditions.wait()
      #expect(conditions.all.last == .working)
      #expect(begun.all.count == 4)
    }
    try requireClean(store)
  }
}

/// Fills the store with jobs of an unknown kind, so that the trees which the end of a job writes to
/// have no room.
private func fill(_ store: Store) async throws {
  var size = 64 << 10
  while size >= 1 {
    do {
      let request = JobRequest(kind: "ballast", payload: Data(count: size))
      try await JobQueue(store).enqueue(request)
    } catch let error as StoreError {
      guard [.mapFull, .diskFull, .inputOutput].contains(error.code) else { throw error }
      size /= 2
    }
  }
}

/// A read whose duration the test controls.
private final class HeldSnapshot: Sendable {
  private let end = DispatchSemaphore(value: 0)

  init(_ store: Store) {
    let begun = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [end] in
      do {
        try store.read { _ in
          begun.signal()
          end.wait()
        }
      } catch {
        Issue.record(error)
        begun.signal()
      }
    }
    begun.wait()
  }

  func release() { end.signal() }
}
