import Dispatch
import EntityModel
import Glibc
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore

/// Writes whose callers block, alone and together with others.
@Suite struct BlockingWriteTests {
  struct Refused: Error {}

  @Test func itRunsOnTheCallingThreadIfNoOtherWriteWaits() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let isOwn = try await onThread {
        let own = pthread_self()
        return try (0..<3).map { number in
          try store.writeBlocking { transaction in
            try transaction.insert("Sample", ["name": .string("\(number)")])
            return pthread_equal(pthread_self(), own) != 0
          }
        }
      }
      #expect(isOwn == [true, true, true])
      #expect(try store.count(FetchRequest(entityName: "Sample")) == 3)
    }
  }

  @Test func itWaitsForTheWriteThatRunsAndSharesTheNextCommit() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let before = try store.environment.information().lastTransactionID
      let gate = DispatchSemaphore(value: 0)
      let isRunning = Locked(false)
      let names = (0..<4).map { "sample \($0)" }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try await store.write { _ in
            isRunning.withLock { $0 = true }
            gate.wait()
          }
        }
        while !isRunning.withLock({ $0 }) { await Task.yield() }
        for name in names {
          group.addTask {
            try await onThread {
              try store.writeBlocking { try $0.insert("Sample", ["name": .string(name)]) }
            }
          }
        }
        while store.environment.writesWaiting < 1 + names.count { await Task.yield() }
        gate.signal()
        try await group.waitForAll()
      }
      #expect(try store.count(FetchRequest(entityName: "Sample")) == names.count)
      #expect(
        try store.environment.information().lastTransactionID == before + 1,
        "the writes that waited share a commit, and the first one changes nothing")
    }
  }

  @Test func blockingAndAwaitedWritesTogetherLoseNothing() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let (writers, each) = (4, 50)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<writers {
          group.addTask {
            try await onThread {
              for number in 0..<each {
                let name = Value.string("thread \(writer) \(number)")
                try store.writeBlocking { try $0.insert("Sample", ["name": name]) }
                // An error harms no write that shares the commit.
                #expect(throws: Refused.self) {
                  try store.writeBlocking { transaction in
                    try transaction.insert("Sample", ["name": .string("gone \(writer)")])
                    throw Refused()
                  }
                }
              }
            }
          }
          group.addTask {
            for number in 0..<each {
              let name = Value.string("task \(writer) \(number)")
              try await store.write { try $0.insert("Sample", ["name": name]) }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try store.count(FetchRequest(entityName: "Sample")) == 2 * writers * each)
      #expect(store.environment.writesWaiting == 0)
    }
  }
}
