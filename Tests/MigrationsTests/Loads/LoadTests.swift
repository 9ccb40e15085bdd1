import Dispatch
import EntityModel
import EntityObjects
import LMDB
import Maintenance
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Loads in one process: what is in the store during them and after them.
@Suite(.timeLimit(.minutes(30))) struct LoadTests {
  @Test func aLoadEndsLikeAnInsertWithFullerPages() async throws {
    let items = (0..<6_000).map(LoadPlan.values)
    func load(_ body: (Store) async throws -> BatchResult) async throws -> ([String], pages: Int) {
      var contents: [String] = []
      var pages = 0
      try await withGoods { store in
        #expect(try await body(store).counts.inserted == 6_000)
        try store.read { transaction in
          contents = try StoreDigest.lines(in: transaction)
          pages = try Self.indexPages(in: transaction)
          #expect(try LoadPlan.problems(in: transaction).isEmpty)
        }
        #expect(try store.plan("size == 7").indexes.map(\.name) == ["bySize"])
      }
      return (contents, pages)
    }
    let inserted = try await load { try await $0.execute(LoadPlan.request(items)) }
    let loaded = try await load { try await $0.load(LoadPlan.request(items)) }
    #expect(inserted.0 == loaded.0)
    #expect(Double(loaded.pages) < 0.8 * Double(inserted.pages))
  }

  @Test func aLoadSetsAsideWhatNothingElseNeeds() async throws {
    try await withGoods { store in
      let seen = Locked<[[String]]>([])
      let plan = Locked<FetchPlan?>(nil)
      try await LoadPlan.run(on: store) { progress in
        guard case .items = progress else { return }
        seen.withLock { $0.append((try? store.deferredIndexes().map(\.index).sorted()) ?? []) }
        plan.withLock { $0 = try? store.plan("size == 7") }
      }
      #expect(Set(seen.withLock { $0 }) == [LoadPlan.deferredIndexes])
      let found = try #require(plan.withLock { $0 })
      #expect(found.kinds.contains(.scan))
      let reason = try #require(found.rejected.first { $0.index == "bySize" }?.reason)
      #expect(reason.contains("set aside by a load"))
      #expect(try store.deferredIndexes().isEmpty)
      #expect(try store.catalog().readCompatibleFeatures == CatalogHeader.sealFeature)
      try MigrationBench.requireNoLeftovers(store)
    }
  }

  @Test func manyLoadsUseTheSameTrees() async throws {
    try await withGoods { store in
      func names() throws -> [String] {
        try store.environment.read { try store.environment.treeNames(in: $0) }
      }
      let before = try names()
      // With new names for the indexes and their side logs, these would be more than a process can
      // have.
      let loads = store.environment.options.treesMax / (2 * LoadPlan.deferredIndexes.count) + 1
      for load in 0..<loads {
        let items = (0..<3).map { LoadPlan.values(load * 3 + $0) }
        #expect(try await store.load(LoadPlan.request(items)).counts.inserted == 3)
        #expect(try store.read { try LoadPlan.problems(in: $0) }.isEmpty)
        try await store.write { transaction in
          for item in try transaction.fetch(FetchRequest(entityName: "Item")) {
            try transaction.delete(item.id)
          }
        }
      }
      #expect(try names() == before)
      try MigrationBench.requireNoLeftovers(store)
    }
  }

  @Test func aReaderKeepsItsIndexesOverALoad() async throws {
    try await withGoods { store in
      let old = (0..<50).map { LoadPlan.values($0 + 5_000) }
      try await store.write { for item in old { _ = try $0.insert("Item", item) } }
      let (reads, loaded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let reader = Task.detached {
        try await BoundedThreads("test.reader", threadsMax: 1).run {
          try store.read { transaction in
            reads.signal()
            loaded.wait()
            var request = FetchRequest(
              entityName: "Item", predicate: try FetchPredicate(format: "size < 20"))
            request.requiresIndex = true
            let problems = try LoadPlan.problems(in: transaction)
            return (try transaction.fetch(request).count, problems)
          }
        }
      }
      try await BoundedThreads("test.wait", threadsMax: 1).run { reads.wait() }
      try await store.write { transaction in
        for item in try transaction.fetch(FetchRequest(entityName: "Item")) {
          try transaction.delete(item.id)
        }
      }
      let result = await Task { try await LoadPlan.run(on: store) }.result
      loaded.signal()
      let (found, problems) = try await reader.value
      #expect(try result.get().counts.inserted == Int64(LoadPlan.rows))
      let expected = old.count { item in
        if case .int64(let size) = item["size"] { size < 20 } else { false }
      }
      #expect(found == expected && expected > 0)
      #expect(problems.isEmpty, "\(problems)")
      #expect(try store.read { try LoadPlan.problems(in: $0) }.isEmpty)
      try MigrationBench.requireNoLeftovers(store)
    }
  }

  @Test func recordsOfOthersKeepTheIndexesInPlace() async throws {
    try await withGoods { store in
      try await store.write { _ = try $0.insert("Item", ["code": "other", "size": 1]) }
      let isInPlace = Locked(true)
      try await LoadPlan.run(on: store) { _ in
        let deferred = try? store.deferredIndexes()
        isInPlace.withLock { $0 = $0 && deferred?.isEmpty == true }
      }
      #expect(isInPlace.withLock { $0 })
      #expect(try store.read { try $0.count(of: "Item") } == LoadPlan.rows + 1)
    }
  }

  @Test func aUniqueViolationStopsTheLoadWhichContinuesOnceItIsCorrected() async throws {
    try await withGoods { store in
      var items = (0..<LoadPlan.rows).map(LoadPlan.values)
      items[100]["code"] = "c7"
      let wrong = items
      let error = await #expect(throws: BatchItemError.self) {
        try await store.load(LoadPlan.request(wrong), building: LoadPlan.options)
      }
      #expect(error?.item == 101)
      #expect(try store.read { try $0.count(of: "Item") } == 100)
      #expect(try store.deferredIndexes().map(\.index).sorted() == LoadPlan.deferredIndexes)
      #expect(try store.read { try LoadPlan.problems(in: $0) }.isEmpty)
      try requireClean(store)
      let result = try await LoadPlan.run(on: store)
      #expect(result.isResumed && result.counts.inserted == Int64(LoadPlan.rows))
      try MigrationBench.requireNoLeftovers(store)
    }
  }

  @Test func anInterruptedLoadRefusesOtherItems() async throws {
    try await withGoods { store in
      // The items are in the store, and the indexes are not built.
      try await interruptWhileIndexesAreBuilt(store)
      #expect(try store.read { try $0.count(of: "Item") } == LoadPlan.rows)
      let others = LoadPlan.request((0..<10).map { LoadPlan.values($0 + 1_000) })
      #expect(await code { try await store.load(others) } == .invalidRequest)
      try await LoadPlan.run(on: store)
      #expect(try store.read { try $0.count(of: "Item") } == LoadPlan.rows)
      try MigrationBench.requireNoLeftovers(store)
    }
  }

  @Test(arguments: isThorough ? Array(1...20) : [1, 2] as [UInt64])
  func othersReadAndWriteDuringALoadThatIsCancelledAgainAndAgain(seed: UInt64) async throws {
    let seed = testSeed(seed)
    try await withGoods { store in
      let other = try openStore(
        at: store.folder, migrations: [LoadPlan.source], migrate: .never)
      let state = Locked(
        // In chunks of one key a build could not keep up with changes without an end.
        (
          random: SeededRandom(seed: seed), left: 0, changes: 120, failure: Optional<String>.none
        ))
      var cancelled = 0
      var isDone = false
      while !isDone {
        let cancels = cancelled < 8
        state.withLock { $0.left = cancels ? $0.random.number(1...60) : .max }
        let running = Locked<Task<BatchResult, any Error>?>(nil)
        let task = Task {
          try await LoadPlan.run(on: store) { _ in
            let isOver = state.withLock { state in
              do {
                if state.changes > 0 { try Self.change(other, &state.random) }
                state.changes -= 1
                state.failure =
                  try state.failure ?? other.read { try LoadPlan.problems(in: $0) }.first
              } catch {
                state.failure = "\(error)"
              }
              if state.left < .max { state.left -= 1 }
              return state.left <= 0
            }
            if isOver { running.withLock { $0 }?.cancel() }
          }
        }
        running.withLock { $0 = task }
        do {
          _ = try await task.value
          isDone = true
        } catch is CancellationError {
          cancelled += 1
        }
        #expect(state.withLock { $0.failure } == nil, "seed \(seed)")
        try requireClean(store)
      }
      #expect(cancelled > 0, "seed \(seed)")
      try MigrationBench.requireNoLeftovers(store)
    }
  }

  // MARK: Support

  /// Inserts, updates and deletes some items.
  private static func change(_ store: Store, _ random: inout SeededRandom) throws {
    var generator = random
    defer { random = generator }
    try store.writeBlocking(author: "other") { transaction in
      let number = generator.number(10_000...1_000_000)
      if try transaction.get("Item", by: ["code": .string("c\(number)")]) == nil {
        try transaction.insert("Item", LoadPlan.values(number))
      }
      let ids = try transaction.fetch(FetchRequest(entityName: "Item")).map(\.id)
      for id in ids.shuffled(using: &generator).prefix(3) {
        let values = LoadPlan.values(generator.number(0...10_000))
        try transaction.update(id) { item in
          for name in ["size", "group", "tags"] { try item.set(name, to: values[name] ?? .null) }
        }
      }
      if let id = ids.randomElement(using: &generator) { try transaction.delete(id) }
    }
  }

  private static func indexPages(in transaction: ReadTransaction) throws -> Int {
    try transaction.layout("Item").indexes
      .filter { LoadPlan.deferredIndexes.contains($0.description.name) }
      .reduce(0) { try $0 + transaction.transaction.statistics($1.tree).leafPages }
  }
}

func withGoods(_ body: (Store) async throws -> Void) async throws {
  try await withTemporaryStore(migrations: [LoadPlan.source]) { try await body($0.store) }
}

/// Cancels the load of `LoadPlan` after half of its items.
func interruptWhileInserting(_ store: Store) async throws {
  let task = Task {
    try await LoadPlan.run(on: store) { progress in
      guard case .items(let items) = progress, items.done >= LoadPlan.rows / 2 else { return }
      withUnsafeCurrentTask { $0?.cancel() }
    }
  }
  await #expect(throws: CancellationError.self) { try await task.value }
  #expect(try store.read { try $0.count(of: "Item") } == LoadPlan.rows / 2)
}

/// Cancels the load of `LoadPlan` while its indexes are built.
func interruptWhileIndexesAreBuilt(_ store: Store) async throws {
  let gate = Gate()
  let hasStopped = Locked(false)
  let task = Task {
    try await LoadPlan.run(on: store) { progress in
      guard case .indexes = progress, !hasStopped.withLock({ $0 }) else { return }
      hasStopped.withLock { $0 = true }
      gate.pass()
    }
  }
  await gate.waitForArrival()
  task.cancel()
  gate.open()
  await #expect(throws: CancellationError.self) { try await task.value }
}

/// Changes the descriptions of the indexes that a load has set aside.
func changeDeferredIndexes(
  of store: Store, _ change: (inout IndexDescription) -> Void
) throws {
  try store.changeSchema { transaction in
    var deferred = transaction.deferred
    for (id, indexes) in deferred.entities {
      deferred[id] = indexes.map { index in
        var index = index
        change(&index)
        return index
      }
    }
    #expect(deferred != transaction.deferred)
    transaction.set(deferred)
  }
}

extension Store {
  func plan(_ predicate: String) throws -> FetchPlan {
    try explain(
      FetchRequest(entityName: "Item", predicate: try FetchPredicate(format: predicate)))
  }
}
