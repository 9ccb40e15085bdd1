import EntityModel
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Stores of two machines that share a commit log.
@Suite(.timeLimit(.minutes(10))) struct SharedStoreTests {
  @Test func aMigrationOfOneMachineIsTheSchemaOfTheNextWriteOfAnother() async throws {
    try await withSharedStores(second: [.grownModel]) { first, second, _ in
      try await first.write { _ = try $0.insert("Sample", ["name": "early"]) }
      try second.catchUp()
      #expect(try second.fetch(FetchRequest(entityName: "Sample")).count == 1)
      let byName = FetchRequest(entityName: "Sample", predicate: .comparison("name", .equal, "x"))
      #expect(try second.fetch(byName).isEmpty)

      try migrate(first)
      // Its cached catalog and plans are those of the schema before.
      let id = try await second.write {
        try $0.insert("Sample", ["name": "late", "level": 9])
      }
      #expect(try second.read { try $0.get(id) }?["level"] == 9)
      let byLevel = FetchRequest(
        entityName: "Sample", predicate: .comparison("level", .greater, 0),
        sortBy: [SortKey("name")], requiresIndex: true)
      #expect(try first.fetch(byLevel).count == 1)
      try first.catchUp()
      for store in [first, second] {
        #expect(try store.fetch(byLevel).map { try $0["name"] } == ["early", "late"])
        try requireClean(store)
      }
    }
  }

  @Test func writersOfTwoMachinesAtOnceLoseNothing() async throws {
    try await withSharedStores { first, second, log in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (machine, store) in [first, second].enumerated() {
          for writer in 0..<4 {
            group.addTask {
              for number in 0..<25 {
                try await store.write {
                  _ = try $0.insert("Sample", ["name": .string("\(machine) \(writer) \(number)")])
                }
              }
            }
          }
        }
        try await group.waitForAll()
      }
      for store in [first, second] {
        try store.catchUp()
        let records = try store.fetch(FetchRequest(entityName: "Sample"))
        #expect(records.count == 200)
        #expect(Set(records.map(\.id)).count == 200)
        try requireClean(store)
        try Shadow.compare(store.environment, with: log)
      }
      #expect(try first.id == second.id)
    }
  }

  @Test func observersAreWokenByCommitsOfAnotherMachine() async throws {
    try await withSharedStores { first, second, _ in
      let observation = try second.commits.observe()
      let seen = try second.read { $0.transaction.id }
      async let next = observation.next(after: seen)
      try await first.write { _ = try $0.insert("Sample", ["name": "new"]) }
      try second.catchUp()
      #expect(try await next > seen)
      #expect(try second.fetch(FetchRequest(entityName: "Sample")).count == 1)
    }
  }

  @Test func aTakerOfALockHasWhatItsFormerHolderHasCommitted() async throws {
    try await withSharedStores { first, second, _ in
      let lock = try first.takeSharedLock("work")
      try await first.write { _ = try $0.insert("Sample", ["name": "done"]) }
      lock?.release()
      #expect(try second.takeSharedLock("work") != nil)
      #expect(try second.fetch(FetchRequest(entityName: "Sample")).count == 1)
      for store in [first, second] { try requireClean(store) }
    }
  }

  @Test func aWriteThatFailsDoesNotUndoWhatOthersWroteAndIsNotSharedByThem() async throws {
    try await withSharedStores { first, second, log in
      try await first.write { _ = try $0.insert("Sample", ["name": "one"]) }
      let before = log.head
      let failed = await code {
        try await second.write { transaction in
          _ = try transaction.insert("Sample", ["name": "two"])
          throw StoreError(.conflict, "on purpose")
        }
      }
      #expect(failed == .conflict)
      #expect(log.head == before)
      try await second.write { _ = try $0.insert("Sample", ["name": "three"]) }
      let names = try second.fetch(FetchRequest(entityName: "Sample", sortBy: [SortKey("name")]))
      #expect(try names.map { try $0["name"] } == ["one", "three"])
    }
  }

  @Test func withoutALogThatAnswersAStoreIsReadAndNotWritten() async throws {
    try await withSharedStores { first, _, log in
      try await first.write { _ = try $0.insert("Sample", ["name": "one"]) }
      log.fail(at: .turn)
      #expect(await code { try await first.write { _ in } } == .unreachable)
      #expect(try first.fetch(FetchRequest(entityName: "Sample")).count == 1)
      log.fail(at: .silentAfterCommit)
      let unknown = await code {
        try await first.write { _ = try $0.insert("Sample", ["name": "two"]) }
      }
      #expect(unknown == .unknownOutcome)
      #expect(StoreError(.unreachable, "").isTemporary)
      #expect(!StoreError(.unknownOutcome, "").isTemporary)
      #expect(!StoreError(.notHereYet, "").isTemporary)
      // The log has it all the same.
      try first.catchUp()
      #expect(try first.fetch(FetchRequest(entityName: "Sample")).count == 2)
    }
  }
}

private func migrate(_ store: Store) throws {
  let policy = try KnownMigrations([.system, .grownModel])
  let newer = try Store(
    folder: store.folder, policy: policy, creates: false, options: store.options)
  try newer.migrate()
}

/// Runs `body` with the stores of two machines, of which the second may know more
/// migrations than are applied.
private func withSharedStores(
  second migrations: [MigrationSource] = [.model],
  isolation: isolated (any Actor)? = #isolation,
  _ body: (Store, Store, MemoryCommitLog) async throws -> Void
) async throws {
  try await withTemporaryFolder { folder in
    let log = MemoryCommitLog()
    let first = try openStore(at: folder.path("first"), log: log)
    let second = try openStore(at: folder.path("second"), migrations: migrations, log: log)
    try await body(first, second, log)
  }
}
