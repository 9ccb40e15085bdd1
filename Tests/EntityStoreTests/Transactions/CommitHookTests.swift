import Dispatch
import EntityModel
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore

@Suite struct CommitHookTests {
  struct Refused: Error {}

  @Test func aHookWritesInTheCommitThatChangesItsEntity() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let hook = SampleHook { try $0.insert("Sample", ["name": "hook"]) }
      let remove = store.add(hook)
      let before = try store.environment.information().lastTransactionID
      try await store.write { try $0.insert("Sample", ["name": "write"]) }
      #expect(try store.environment.information().lastTransactionID == before + 1)
      #expect(try Self.names(store) == ["hook", "write"])
      #expect(hook.published.withLock { $0 } == [true])
      remove()
      try await store.write { try $0.insert("Sample", ["name": "later"]) }
      #expect(try Self.names(store) == ["hook", "later", "write"])
    }
  }

  @Test func aHookIsNotCalledIfItsEntityIsNotChanged() async throws {
    try await withTemporaryStore { temporary in
      let hook = SampleHook { _ in }
      let remove = temporary.store.add(hook)
      defer { remove() }
      try await temporary.store.write { _ in }
      await #expect(throws: Refused.self) {
        try await temporary.store.write { transaction in
          try transaction.insert("Sample", ["name": "gone"])
          throw Refused()
        }
      }
      #expect(hook.published.withLock { $0 }.isEmpty)
    }
  }

  @Test func aHookThatFailsDoesNotHarmTheCommit() async throws {
    try await withTemporaryStore { temporary in
      let hook = SampleHook { transaction in
        try transaction.insert("Sample", ["name": "hook"])
        throw Refused()
      }
      let remove = temporary.store.add(hook)
      defer { remove() }
      try await temporary.store.write { try $0.insert("Sample", ["name": "write"]) }
      #expect(try Self.names(temporary.store) == ["write"])
      #expect(hook.published.withLock { $0 } == [false])
    }
  }

  @Test func aHookIsCalledOnceForACommitOfManyWrites() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      // The writes may come in several commits, and a name is that of one record.
      let hook = SampleHook {
        try $0.insert("Sample", ["name": .string("hook \($0.count(of: "Sample"))")])
      }
      let remove = store.add(hook)
      defer { remove() }
      let before = try store.environment.information().lastTransactionID
      try await Self.writeTogether((0..<5).map { "write \($0)" }, to: store)
      let commits = try store.environment.information().lastTransactionID - before
      #expect(hook.published.withLock { $0 }.count == commits)
      #expect(try Self.names(store).count { $0.hasPrefix("hook") } == commits)
    }
  }

  @Test func repeatableWritesShareATransactionAndNoneIsHarmedByAnother() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let outcomes = try await Self.writeTogether(
        ["a", "b", "refused", "c"], to: store, isRepeatable: true)
      #expect(outcomes == ["a": true, "b": true, "refused": false, "c": true])
      #expect(try Self.names(store) == ["a", "b", "c"])
    }
  }

  /// Submits all writes while the writer is busy, so that they share a commit.
  ///
  /// - Returns: True for each write that has succeeded.
  @discardableResult
  private static func writeTogether(
    _ names: [String], to store: Store, isRepeatable: Bool = false
  ) async throws -> [String: Bool] {
    try await withThrowingTaskGroup(of: (String, Bool)?.self) { group in
      let isBusy = DispatchSemaphore(value: 0)
      group.addTask {
        try await store.write { _ in isBusy.wait() }
        return nil
      }
      for name in names {
        group.addTask {
          do {
            try await store.write(author: "test", isRepeatable: isRepeatable) { transaction in
              try transaction.insert("Sample", ["name": .string(name)])
              if name == "refused" { throw Refused() }
            }
            return (name, true)
          } catch is Refused {
            return (name, false)
          }
        }
      }
      for _ in 0..<100 { await Task.yield() }
      isBusy.signal()
      var outcomes: [String: Bool] = [:]
      for try await outcome in group {
        if let (name, isDone) = outcome { outcomes[name] = isDone }
      }
      return outcomes
    }
  }

  private static func names(_ store: Store) throws -> [String] {
    try store.fetch(FetchRequest(entityName: "Sample")).map { try $0["name"].text }.sorted()
  }
}

/// Writes in each commit that changes samples, and keeps which of its calls have succeeded.
private final class SampleHook: CommitHook {
  let entity = "Sample"
  let published = Locked<[Bool]>([])
  private let body: @Sendable (EntityStore.WriteTransaction) throws -> Void

  init(_ body: @escaping @Sendable (EntityStore.WriteTransaction) throws -> Void) {
    self.body = body
  }

  func begin() -> Bool { true }

  func write(in transaction: EntityStore.WriteTransaction) throws { try body(transaction) }

  func publish(_ result: Result<Void, any Error>) {
    let isDone = if case .success = result { true } else { false }
    published.withLock { $0.append(isDone) }
  }
}
