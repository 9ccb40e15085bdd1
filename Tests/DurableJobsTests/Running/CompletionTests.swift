import EntityModel
import EntityStore
import Foundation
import TestSupport
import Testing

@testable import DurableJobs

/// Writes of handlers under their claim.
@Suite(.timeLimit(.minutes(10))) struct CompletionTests {
  @Test func progressIsStoredAndObservedAndTheLastValueStays() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      let gate = Gate()
      var handlers = JobHandlers()
      handlers.react(to: Numbered.self) { _, context in
        for done in 1...1_000 { context.report(done: Int64(done), of: 2_000, note: "first half") }
        await gate.wait()
        context.report(done: 2_000, of: 2_000, note: "all")
      }
      try await withRunner(temporary.store, handlers) { _ in
        let handle = try await queue.enqueue(Numbered())
        var seen: [Int64] = []
        for try await status in handle.updates {
          if let done = status.progress.done, done != seen.last { seen.append(done) }
          if status.progress.done == 1_000 {
            #expect(status.progress.fraction == 0.5 && status.progress.note == "first half")
            gate.open()
          }
        }
        #expect(seen == [1_000, 2_000])
        #expect(try queue.status(handle.id)?.progress.note == "all")
      }
    }
  }

  @Test func aJobEndsInTheCommitOfItsOwnChangesWhateverItsHandlerDoesAfterThat() async throws {
    try await withTemporaryJobs { temporary in
      let (store, queue) = (temporary.store, JobQueue(temporary.store))
      let ended = Events<EndedAttempt>()
      var options = RunnerOptions()
      options.onEnd = { ended.add($0) }
      var handlers = JobHandlers()
      handlers.handle(AttemptTests.Doubled.self) { job, context in
        context.report(done: 7)
        let output = try await context.complete { transaction in
          try transaction.insert("Sample", ["name": "effect"])
          return job.number * 2
        }
        // In one snapshot: never the one without the other.
        let state = try context.store.read { try JobRows(reading: $0).job(context.id)?.state }
        #expect(state == .succeeded)
        if job.number == 0 { throw Broken() }
        return output + 1
      }
      try await withRunner(store, handlers, options: options) { _ in
        let handle = try await queue.enqueue(AttemptTests.Doubled(number: 0))
        #expect(try await handle.value == 0)
        await ended.wait()
        #expect(ended.all.map(\.state) == [.succeeded])
        let status = try queue.status(handle.id)
        #expect(status?.error == nil && status?.progress.done == 7)
        #expect(try queue.attempts(of: handle.id).isEmpty)
        // The effect is there already: the write fails, and the job has not ended with it.
        let second = try await queue.enqueue(AttemptTests.Doubled(number: 1))
        try await queue.wait(for: second.id, in: .scheduled)
        #expect(try store.read { try $0.count(of: "Sample") } == 1)
      }
    }
  }

  @Test func anAttemptResumesWhereThePreviousOneStopped() async throws {
    try await withTemporaryJobs { temporary in
      let (store, queue) = (temporary.store, JobQueue(temporary.store))
      var handlers = JobHandlers()
      handlers.react(to: Numbered.self) { _, context in
        let first = try context.checkpoint(as: Int.self) ?? 0
        for row in first..<30 {
          if row == first + 10 { throw Broken() }
          try await context.write(checkpoint: row + 1) { transaction in
            try transaction.insert("Sample", ["name": .string("row \(row)")])
          }
        }
      }
      try await withRunner(store, handlers) { runner in
        let handle = try await queue.enqueue(Numbered())
        for failures in 1...2 {
          try await queue.wait(for: handle.id) {
            $0.state == .scheduled && $0.attempts == failures
          }
          temporary.clock.advance(by: 3_600)
          runner.wake()
        }
        _ = try await handle.value
        #expect(try store.read { try $0.count(of: "Sample") } == 30)
        let record = try store.read { try JobRows(reading: $0).job(handle.id) }
        #expect(record?.checkpoint == nil)
      }
    }
  }

  @Test func anAttemptThatHasLostItsClaimWritesNothing() async throws {
    try await withTemporaryJobs { temporary in
      let (store, queue) = (temporary.store, JobQueue(temporary.store))
      let begun = Events<Void>()
      let gate = Gate()
      let refused = Events<JobError.Code>()
      let ended = Events<JobState?>()
      var options = RunnerOptions()
      options.onEnd = { ended.add($0.state) }
      var handlers = JobHandlers()
      handlers.react(to: Numbered.self) { _, context in
        begun.add(())
        await gate.wait()
        let body: @Sendable (WriteTransaction) throws -> Void = { transaction in
          try transaction.insert("Sample", ["name": "late"])
        }
        for attempt in 0..<3 {
          do {
            switch attempt {
            case 0: try await context.write(body)
            case 1: try await context.write(checkpoint: 1, body)
            default:
              _ = try await context.complete { transaction in
                try body(transaction)
                return NoOutput()
              }
            }
          } catch let error as JobError {
            refused.add(error.code)
          }
        }
      }
      try await withRunner(store, handlers, options: options) { _ in
        let handle = try await queue.enqueue(Numbered())
        await begun.wait()
        // As if it had been taken over: another claim, of another runner.
        let other = try await store.write { transaction in
          let table = try JobTable(transaction)
          var job = try table.known(handle.id)
          job.claims += 1
          job.epoch = 9_999
          try table.update(job)
          return JobColumn.allCases.map(job.value)
        }
        gate.open()
        await ended.wait()
        #expect(refused.all == [.lostClaim, .lostClaim, .lostClaim])
        #expect(ended.all == [nil])
        let job = try store.read { try JobRows(reading: $0).job(handle.id) }
        #expect(job.map { JobColumn.allCases.map($0.value) } == other)
        // No such runner is there, so that nobody else would.
        let ending = Claim(job: handle.id, epoch: 9_999, number: 2)
        try await store.write { _ = try JobTable($0).finish(ending, .succeeded(nil)) }
        #expect(try store.read { try $0.count(of: "Sample") } == 0)
      }
    }
  }
}
