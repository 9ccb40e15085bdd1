import DurableJobs
import EntityModel
import EntityStore
import Foundation
import TestSupport
import Testing

/// Cancellation, priorities, limits and pauses.
@Suite(.timeLimit(.minutes(10))) struct ControlTests {
  // MARK: Cancelling

  @Test func aJobThatWaitsIsCancelledAtOnce() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      let later = try await queue.enqueue(Numbered()) {
        $0.runAt = temporary.clock.now.addingTimeInterval(60)
      }
      let ready = try await queue.enqueue(Numbered())
      for handle in [later, ready] {
        #expect(try await handle.cancel() == .cancelled)
        let error = await #expect(throws: JobError.self) { try await handle.value }
        #expect(error?.code == .cancelled)
        let again = await #expect(throws: JobError.self) { try await handle.cancel() }
        #expect(again?.code == .wrongState)
      }
    }
  }

  @Test(arguments: [true, false])
  func aRunningJobIsCancelled(blocks: Bool) async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      let begun = Events<Void>()
      var handlers = JobHandlers()
      if blocks {
        handlers.reactBlocking(to: Numbered.self) { _, context in
          begun.add(())
          try context.blockUntilCancelled()
        }
      } else {
        handlers.react(to: Numbered.self) { _, _ in
          begun.add(())
          try await waitToBeCancelled()
        }
      }
      try await withRunner(temporary.store, handlers) { _ in
        let handle = try await queue.enqueue(Numbered())
        await begun.wait()
        #expect(try await handle.cancel() == .running)
        let status = try await queue.wait(for: handle.id, in: .cancelled)
        #expect(!status.isCancelled && status.attempts == 1)
        #expect(try queue.attempts(of: handle.id).map(\.outcome) == ["cancelled"])
      }
    }
  }

  @Test func aJobThatCompletesDespiteItsCancellationHasSucceeded() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      let begun = Events<Int>()
      let gate = Gate()
      let handlers = JobHandlers.waiting(at: gate, begun: begun)
      try await withRunner(temporary.store, handlers) { _ in
        let handle = try await queue.enqueue(Numbered())
        await begun.wait()
        try await handle.cancel()
        gate.open()
        _ = try await handle.value
      }
    }
  }

  // MARK: Order

  @Test func theLargerPriorityGoesFirstAndAmongEqualsTheOlder() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      let order = Events<Int>()
      var handlers = JobHandlers()
      handlers.react(to: Numbered.self) { job, _ in order.add(job.number) }
      handlers.react(to: Other.self) { job, _ in order.add(job.number) }
      for (number, priority) in [(3, 0), (1, 5), (5, -1), (2, 5)] {
        try await queue.enqueue(Numbered(number)) { $0.priority = priority }
        temporary.clock.advance(by: 1)
      }
      try await queue.enqueue(Other(number: 0)) { $0.priority = 9 }
      try await queue.enqueue(Other(number: 4))
      var options = RunnerOptions()
      options.concurrency = 1
      try await withRunner(temporary.store, handlers, options: options) { _ in
        await order.wait(for: 6)
        #expect(order.all == [0, 1, 2, 3, 4, 5])
      }
    }
  }

  @Test func jobsOfAnUnknownKindWaitAndOthersOvertakeThem() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      var unknown: [JobID] = []
      for number in 0..<20 {
        unknown.append(
          try await queue.enqueue(Other(number: number)) { $0.priority = 10 }.id)
      }
      var handlers = JobHandlers()
      handlers.react(to: Numbered.self) { _, _ in }
      try await withRunner(temporary.store, handlers) { _ in
        for number in 0..<5 { _ = try await queue.enqueue(Numbered(number)).value }
      }
      for id in unknown {
        let status = try queue.status(id)
        #expect(status?.state == .ready && status?.attempts == 0)
      }
    }
  }

  @Test func aQueueUsesAtMostItsShareOfARunner() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      let begun = Events<Int>()
      let gate = Gate()
      let handlers = JobHandlers.waiting(at: gate, begun: begun)
      for number in 0..<6 { try await queue.enqueue(Numbered(number)) { $0.queue = "narrow" } }
      for number in 10..<13 { try await queue.enqueue(Numbered(number)) { $0.priority = -1 } }
      let banned = try await queue.enqueue(Numbered(99)) { $0.queue = "banned" }
      var options = RunnerOptions()
      options.concurrency = 5
      options.queueLimits = ["narrow": 2, "banned": 0]
      try await withRunner(temporary.store, handlers, options: options) { _ in
        await begun.wait(for: 5)
        #expect(Set(begun.all) == [0, 1, 10, 11, 12])
        gate.open()
        await begun.wait(for: 4)
        #expect(Set(begun.all).count == 9)
      }
      #expect(try queue.status(banned.id)?.state == .ready)
    }
  }

  @Test func noMoreJobsOfALimitRunThanItAllowsAndAllRun() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      let running = Peak()
      let ended = Events<Int>()
      var handlers = JobHandlers()
      handlers.react(to: Numbered.self) { job, _ in
        running.enter()
        await Task.yield()
        running.leave()
        ended.add(job.number)
      }
      try await withRunner(temporary.store, handlers) { _ in
        for number in 0..<40 {
          try await queue.enqueue(Numbered(number)) {
            $0.limit = JobLimit("host", max: 2)
            $0.queue = number % 2 == 0 ? "even" : "odd"
          }
        }
        await ended.wait(for: 40)
        #expect(running.most <= 2)
      }
    }
  }

  @Test func aPausedQueueOfALimitDoesNotKeepTheOtherWaiting() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      let begun = Events<Int>()
      let gate = Gate()
      var handlers = JobHandlers()
      handlers.react(to: Numbered.self) { job, _ in
        begun.add(job.number)
        if job.number == 0 { await gate.wait() }
      }
      try await withRunner(temporary.store, handlers) { _ in
        let limit: (inout JobRequest) -> Void = { $0.limit = JobLimit("one") }
        try await queue.enqueue(Numbered(0), limit)
        await begun.wait()
        for number in 1...3 {
          try await queue.enqueue(Numbered(number)) {
            limit(&$0)
            $0.queue = "asleep"
            $0.priority = 9
          }
        }
        let last = try await queue.enqueue(Numbered(4), limit)
        try await queue.wait(for: last.id, in: .held)
        try await queue.pause("asleep")
        gate.open()
        _ = try await last.value
        #expect(begun.all == [0, 4])
        try await queue.resume("asleep")
        await begun.wait(for: 4)
      }
    }
  }

  @Test func jobsOfOneLimitAreHeldByTheirOwnMaximum() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      let begun = Events<Int>()
      let gate = Gate()
      let handlers = JobHandlers.waiting(at: gate, begun: begun)
      try await withRunner(temporary.store, handlers) { _ in
        for number in 0..<2 {
          try await queue.enqueue(Numbered(number)) { $0.limit = JobLimit("key", max: 3) }
        }
        await begun.wait(for: 2)
        var requests: [JobRequest] = []
        for (number, max) in [(2, 1), (3, 2), (4, 3), (5, 3)] {
          var request = try JobRequest(Numbered(number))
          request.limit = JobLimit("key", max: max)
          requests.append(request)
        }
        try await temporary.store.write { [requests] transaction in
          for request in requests { try transaction.enqueue(request) }
        }
        // All of these are looked at together.
        try await queue.enqueue(Numbered(6)) { $0.priority = -1 }
        await begun.wait(for: 2)
        #expect(begun.all == [0, 1, 4, 6])
        gate.open()
        await begun.wait(for: 3)
        #expect(Set(begun.all) == Set(0...6))
      }
    }
  }

  // MARK: Queues

  @Test func aPausedQueueWaitsAndADrainedOneHasNothingRunning() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      let begun = Events<Int>()
      let gate = Gate()
      let handlers = JobHandlers.waiting(at: gate, begun: begun)
      try await withRunner(temporary.store, handlers) { _ in
        #expect(try await queue.pause(.default))
        #expect(try await !queue.pause(.default))
        let first = try await queue.enqueue(Numbered(1))
        let other = try await queue.enqueue(Numbered(2)) { $0.queue = "other" }
        await begun.wait()
        #expect(begun.all == [2])
        #expect(try queue.status(first.id)?.state == .ready)
        #expect(try await queue.resume(.default))
        await begun.wait()
        async let drained: Void = queue.drain(.default)
        // It has paused the queue, and waits.
        let commits = try temporary.store.commits.observe()
        var seen = 0
        while try queue.pausedQueues().isEmpty { seen = try await commits.next(after: seen) }
        let late = try await queue.enqueue(Numbered(3))
        gate.open()
        try await drained
        #expect(try queue.status(first.id)?.state == .succeeded)
        #expect(try queue.status(late.id)?.state == .ready)
        _ = try await other.value
      }
    }
  }
}
