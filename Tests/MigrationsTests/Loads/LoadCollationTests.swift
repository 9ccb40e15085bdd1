import EntityModel
import Maintenance
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Indexes that a program with another version of the collations has set aside, or builds.
@Suite(.timeLimit(.minutes(10))) struct LoadCollationTests {
  @Test func writesAreRefusedWhileIndexesOfAnotherVersionAreSetAside() async throws {
    try await withGoods { store in
      try await interruptWhileInserting(store)
      try changeDeferredIndexes(of: store) { index in
        if index.collationVersion != nil { index.collationVersion = "icu 1" }
      }
      try await requireRefusal(by: store)
    }
  }

  @Test func writesAreRefusedWhileAnIndexOfAnotherVersionIsBuilt() async throws {
    try await withGoods { store in
      try await interruptWhileIndexesAreBuilt(store)
      try store.changeSchema { transaction in
        var build = try #require(transaction.build)
        build.indexes[0].collationVersion = "icu 1"
        transaction.set(transaction.schema, build: build)
      }
      try await requireRefusal(by: store)
    }
  }

  private func requireRefusal(by store: Store) async throws {
    try store.catalogs.refresh()
    let write = await code { try await store.write { try $0.insert("Shelf", ["name": "a"]) } }
    #expect(write == .schemaMismatch)
    #expect(await code { try await LoadPlan.run(on: store) } == .schemaMismatch)
    try requireClean(store)
    // Opening the store builds them with this program's version.
    let opened = try openStore(
      at: store.folder, migrations: [LoadPlan.source], migrate: .never)
    #expect(try opened.deferredIndexes().isEmpty)
    try await LoadPlan.run(on: opened)
    #expect(try opened.read { try LoadPlan.problems(in: $0) }.isEmpty)
    try MigrationBench.requireNoLeftovers(opened)
  }
}
