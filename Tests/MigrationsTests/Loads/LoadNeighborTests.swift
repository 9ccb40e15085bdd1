import EntityModel
import EntityObjects
import LMDB
import Maintenance
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Migrations, and programs that open the store, during a load and after an interrupted one.
@Suite(.timeLimit(.minutes(10))) struct LoadNeighborTests {
  private static let next = MigrationSource(embedded: [
    (
      "0001_more",
      Array(
        """
        line: more
        summary: More of the items
        requires: [goods@1]
        steps:
          - dropIndex: { on: Item, name: bySize }
          - createIndex: { on: Item, name: bySizeUp, keys: [size] }
        """.utf8)
    )
  ])

  @Test func migrationsAndOtherLoadsAreRefusedDuringALoad() async throws {
    try await withGoods { store in
      let other = try openStore(
        at: store.folder, migrations: [LoadPlan.source], migrate: .never)
      let refusals = Locked<Set<StoreError.Code?>>([])
      let rounds = Locked(0)
      let opened = Locked<[[String]]>([])
      try await LoadPlan.run(on: store) { progress in
        let codes = [code { try other.migrate() }, code { try other.buildDeferredIndexes() }]
        refusals.withLock { $0.formUnion(codes) }
        let round = rounds.withLock { rounds in
          rounds += 1
          return rounds
        }
        // A program that opens the store leaves the indexes to the load.
        guard round % 10 == 0, case .items = progress else { return }
        for policy in [Store.MigrationPolicy.never, .pending] {
          let names = try? openStore(
            at: store.folder, migrations: [LoadPlan.source], migrate: policy
          ).deferredIndexes().map(\.index).sorted()
          opened.withLock { $0.append(names ?? []) }
        }
      }
      #expect(opened.withLock { Set($0) } == [LoadPlan.deferredIndexes])
      #expect(rounds.withLock { $0 } > LoadPlan.rows / LoadPlan.rowsPerChunk)
      #expect(refusals.withLock { $0 } == [.busy])
      let lock = try MigrationLock(of: store, within: .zero)
      #expect(await code { try await LoadPlan.run(on: store) } == .busy)
      withExtendedLifetime(lock) {}
      try MigrationBench.requireNoLeftovers(store)
    }
  }

  @Test func openingBuildsTheIndexesOfAnInterruptedLoad() async throws {
    try await withGoods { store in
      try await interruptWhileInserting(store)
      #expect(try store.deferredIndexes().map(\.index).sorted() == LoadPlan.deferredIndexes)
      var options = Store.Options()
      options.isReadOnly = true
      let reading = try Store.open(
        at: store.folder, migrations: [LoadPlan.source], options: options)
      #expect(try reading.deferredIndexes().count == LoadPlan.deferredIndexes.count)
      let opened = try openStore(
        at: store.folder, migrations: [LoadPlan.source], migrate: .never)
      #expect(try opened.deferredIndexes().isEmpty)
      #expect(try store.plan("size == 7").indexes.map(\.name) == ["bySize"])
      try requireClean(store)
      // The load sets them aside again, and continues.
      let deferred = Locked(0)
      let result = try await LoadPlan.run(on: store) { _ in
        let count = (try? store.deferredIndexes().count) ?? 0
        deferred.withLock { $0 = max($0, count) }
      }
      #expect(result.isResumed && result.counts.inserted == Int64(LoadPlan.rows))
      #expect(deferred.withLock { $0 } == LoadPlan.deferredIndexes.count)
      try MigrationBench.requireNoLeftovers(store)
    }
  }

  @Test(arguments: [false, true])
  func migrationsFirstBuildTheIndexesOfAnInterruptedLoad(whileBuilding: Bool) async throws {
    try await withGoods { store in
      if whileBuilding {
        try await interruptWhileIndexesAreBuilt(store)
      } else {
        try await interruptWhileInserting(store)
      }
      #expect((try store.catalog().build != nil) == whileBuilding)
      let count = try store.read { try $0.count(of: "Item") }
      var options = Store.Options()
      options.flushesCommits = false
      options.commitDuration = .zero
      // A plan, which changes nothing, knows the indexes that are set aside.
      let migrated = try Store(
        folder: store.folder, policy: KnownMigrations([.system, LoadPlan.source, Self.next]),
        creates: false, options: options)
      #expect(try migrated.verifyMigrations().isEmpty)
      try migrated.migrate(LoadPlan.options)
      #expect(try migrated.deferredIndexes().isEmpty)
      let names = try migrated.schema.entity(named: "Item")?.indexes.map(\.name).sorted()
      #expect(names?.contains("bySizeUp") == true && names?.contains("bySize") == false)
      #expect(try migrated.read { try $0.count(of: "Item") } == count)
      try requireClean(migrated)
      #expect(try migrated.catalog().build == nil)
    }
  }

  @Test func aBuildContinuesWhereItWasInterrupted() async throws {
    try await withGoods { store in
      try await interruptWhileIndexesAreBuilt(store)
      let stages = Locked(0)
      var options = LoadPlan.options
      options.isCancelled = {
        stages.withLock { count in
          count += 1
          return count == 30
        }
      }
      #expect(throws: CancellationError.self) { try store.buildDeferredIndexes(options) }
      try requireClean(store)
      let first = Locked<MigrationProgress?>(nil)
      options.isCancelled = { false }
      options.progress = { progress in first.withLock { $0 = $0 ?? progress } }
      try store.buildDeferredIndexes(options)
      // It has not begun with the first key again.
      #expect(first.withLock { $0.map { $0.stage == .writing && $0.done > 1 } } == true)
      #expect(try store.deferredIndexes().isEmpty)
      try requireClean(store)
      try await LoadPlan.run(on: store)
      try MigrationBench.requireNoLeftovers(store)
    }
  }

  @Test func theCheckNamesTheIndexesThatAreSetAside() async throws {
    try await withGoods { store in
      try await interruptWhileInserting(store)
      let report = try Store.check(at: store.folder)
      #expect(report.isClean)
      let note = try #require(report.notes?.first { $0.contains("aside") })
      for name in LoadPlan.deferredIndexes { #expect(note.contains(name)) }
      #expect(throws: StoreError.self) {
        try store.read { try $0.eachEntry(of: "Item", index: "bySize") { _ in true } }
      }
      try store.buildDeferredIndexes()
      #expect(try Store.check(at: store.folder).notes == nil)
    }
  }

  @Test func aDeferredIndexThatContradictsTheSchemaIsDamage() async throws {
    try await withGoods { store in
      let schema = try store.schema
      let item = try #require(schema.entity(named: "Item"))
      var deferred = DeferredIndexes()
      #expect(CatalogCheck.problems(of: deferred, schema: schema).isEmpty)
      deferred[item.id] = [item.indexes[0]]
      #expect(CatalogCheck.problems(of: deferred, schema: schema).count == 2)
      deferred[item.id] = []
      deferred[1_000] = [IndexDescription(id: 500, name: "x", keys: item.indexes[0].keys)]
      #expect(CatalogCheck.problems(of: deferred, schema: schema).count == 1)
      deferred[1_000] = []
      deferred[item.id] = [IndexDescription(id: 500, name: "x", keys: [IndexKey(attributeID: 99)])]
      #expect(CatalogCheck.problems(of: deferred, schema: schema).count == 1)
    }
  }
}
