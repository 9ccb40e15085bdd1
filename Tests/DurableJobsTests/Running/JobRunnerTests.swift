import DurableJobs
import EntityModel
import EntityStore
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct JobRunnerTests {
  struct Sum: Job {
    static let kind: JobKind = "test.sum"
    typealias Output = Int
    var numbers: [Int]
  }

  @Test func aJobThatIsEnqueuedIsRunAndItsOutputIsKept() async throws {
    try await withTemporaryJobs { temporary in
      let store = temporary.store
      var handlers = JobHandlers()
      handlers.handle(Sum.self) { job, _ in job.numbers.reduce(0, +) }
      let runner = JobRunner(store, handlers)
      async let run: Void = runner.run()
      let handle = try await JobQueue(store).enqueue(Sum(numbers: [1, 2, 3]))
      #expect(try await handle.value == 6)
      await runner.stop(within: .seconds(10))
      try await run
      #expect(try JobQueue(store).status(handle.id)?.state == .succeeded)
      #expect(try JobQueue(store).runners().isEmpty)
    }
  }
}
