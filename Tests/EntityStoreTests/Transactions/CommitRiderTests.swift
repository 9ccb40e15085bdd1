import EntityModel
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore

@Suite struct CommitRiderTests {
  struct Refused: Error {}

  @Test func aRiderWritesInTheCommitThatChangesItsEntity() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let ends = Locked<[Bool]>([])
      let end = store.add(Self.rider(ends) { try $0.insert("Sample", ["name": "rider"]) })
      let before = try store.environment.information().lastTransactionID
      try await store.write { try $0.insert("Sample", ["name": "write"]) }
      #expect(try store.environment.information().lastTransactionID == before + 1)
      #expect(try Self.names(store) == ["rider", "write"])
      #expect(ends.withLock { $0 } == [true])
      end()
      try await store.write { try $0.insert("Sample", ["name": "later"]) }
      #expect(try Self.names(store) == ["later", "rider", "write"])
    }
  }

  @Test func aRiderStaysBehindIfItsEntityIsNotChanged() async throws {
    try await withTemporaryStore { temporary in
      let ends = Locked<[Bool]>([])
      let end = temporary.store.add(Self.rider(ends) { _ in })
      defer { end() }
      try await temporary.store.write { _ in }
      await #expect(throws: Refused.self) {
        try await temporary.store.write { transaction in
          try transaction.insert("Sample", ["name": "gone"])
          throw Refused()
        }
      }
      #expect(ends.withLock { $0 }.isEmpty)
    }
  }

  @Test func aRiderThatFailsHarmsNotTheCommit() async throws {
    try await withTemporaryStore { temporary in
      let ends = Locked<[Bool]>([])
      let end = temporary.store.add(
        Self.rider(ends) { transaction in
          try transaction.insert("Sample", ["name": "rider"])
          throw Refused()
        })
      defer { end() }
      try await temporary.store.write { try $0.insert("Sample", ["name": "write"]) }
      #expect(try Self.names(temporary.store) == ["write"])
      #expect(ends.withLock { $0 } == [false])
    }
  }

  private static func rider(
    _ ends: Locked<[Bool]>,
    _ body: @escaping @Sendable (EntityStore.WriteTransaction) throws -> Void
  ) -> CommitRider {
    CommitRider(onChangesOf: "Sample") {
      CommitRider.Ride(body) { result in
        let isDone = if case .success = result { true } else { false }
        ends.withLock { $0.append(isDone) }
      }
    }
  }

  private static func names(_ store: Store) throws -> [String] {
    try store.fetch(FetchRequest(entityName: "Sample")).map { try $0["name"].text }.sorted()
  }
}
