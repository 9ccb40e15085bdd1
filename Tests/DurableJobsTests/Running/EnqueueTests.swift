import EntityModel
import EntityStore
import Foundation
import TestSupport
import Testing

@testable import DurableJobs

/// Enqueues of several jobs in one transaction.
@Suite(.timeLimit(.minutes(10)))
struct EnqueueTests {
  /// Requests of all shapes: a new row must keep nothing of the one before it.
  private func requests(at now: Date) -> [JobRequest] {
    var requests = (0..<8).map { number in
      JobRequest(
        kind: number < 4 ? "test.short" : "test.with-a-longer-name",
        payload: Data(repeating: 48 + UInt8(number), count: 1 + (number * 37) % 90))
    }
    requests[0].timeout = .seconds(7)
    requests[0].limit = JobLimit("host", max: 2)
    requests[1].runAt = now.addingTimeInterval(60)
    requests[2].priority = 9
    requests[2].queue = "slow"
    requests[3].uniqueKey = "one"
    requests[4].uniqueKey = "one"
    requests[5].attemptsMax = 1
    requests[6].uniqueKey = "one"
    requests[6].onConflict = .replace
    return requests
  }

  @Test func jobsEnqueuedTogetherAreThoseEnqueuedOneByOne() async throws {
    var rows: [[[Value]]] = []
    for isTogether in [true, false] {
      try await withTemporaryJobs { temporary in
        let requests = requests(at: temporary.clock.now)
        let enqueued = try await temporary.store.write { transaction in
          isTogether
            ? try transaction.enqueue(requests) : try requests.map { try transaction.enqueue($0) }
        }
        #expect(enqueued.map(\.isNew) == [true, true, true, true, true, true, false, true])
        #expect(enqueued[6].id == enqueued[4].id)
        rows.append(
          try temporary.store.read { snapshot in
            let jobs = try JobRows(reading: snapshot)
            return try enqueued.compactMap { try jobs.job($0.id)?.row.values() }
          })
      }
    }
    #expect(rows[0].count == 8)
    #expect(rows[0] == rows[1])
    // The replaced job has the payload of the later request.
    #expect(rows[0][4][JobColumn.payload.rawValue] == .data(requests(at: Date())[6].payload))
    #expect(rows[0][7][JobColumn.uniqueKey.rawValue] == .null)
    #expect(rows[0][1][JobColumn.timeout.rawValue] == .null)
  }

  @Test func aRefusedRequestLeavesTheJobsBeforeIt() async throws {
    try await withTemporaryJobs { temporary in
      var requests = requests(at: temporary.clock.now)
      requests[3].attemptsMax = 0
      let refused = requests
      try await temporary.store.write { transaction in
        #expect(throws: JobError.self) { try transaction.enqueue(refused) }
      }
      #expect(try JobQueue(temporary.store).list().count == 3)
    }
  }

  @Test func aQueueOfOneMachineIsNamedAfterIt() {
    #expect(QueueName(rawValue: "exports@böhm").machine == "böhm")
    #expect(QueueName(rawValue: "exports@böhm").shared == "exports")
    #expect(QueueName.default.machine == nil)
    #expect(QueueName.default.shared == .default)
    #expect(!JobName.isValid(""))
    #expect(JobName.isValid("feed.sync_9-Z"))
    #expect(!JobName.isValid("a/b"))
    #expect(!JobName.isValid(String(repeating: "a", count: 65)))
  }
}
