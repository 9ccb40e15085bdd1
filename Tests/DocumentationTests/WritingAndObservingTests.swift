import Foundation
import Mooring
import TestSupport
import Testing

/// The code of the page "Writing and observing", run.
@Suite struct WritingAndObservingTests {
  @Test func writing() async throws {
    try await withWalks { store, existing in
      try await store.write { _ = try $0.delete(existing) }
      // listing
      let fido = try await store.write(author: "ui") { transaction in
        let fido = try transaction.insert(Dog(name: "Fido"))
        try transaction.insert(Walk(title: "Harbor", kilometers: 3, dog: ToOne(fido)))
        return fido
      }
      // end
      #expect(try store.read { try $0.related(fido, "walks") }.count == 1)
    }
  }

  @Test func aDraft() async throws {
    try await withWalks { store, fido in
      // listing
      let draft = store.draft(author: "ui", mergePolicy: .storeWins)
      let rex = try draft.insert(Dog(name: "Rex"))
      try draft.insert(Walk(title: "Harbor", kilometers: 3, dog: ToOne(rex)))
      try draft.update(Dog.self, fido) { $0.age += 1 }
      let dogs = try draft.fetch(FetchDescriptor<Dog>(sortBy: [SortBy(\.name)]))
      let identities = try await draft.save()
      // end
      #expect(dogs.map(\.name) == ["Fido", "Rex"] && dogs.map(\.age) == [1, 0])
      let saved = try #require(identities[rex])
      #expect(try store.read { try $0.related(saved, "walks") }.count == 1)
    }
  }

  @Test func conflicts() async throws {
    try await withWalks { store, fido in
      let draft = store.draft()
      try draft.insert(Dog(name: "Rex"))
      try draft.update(Dog.self, fido) { $0.age = 2 }
      try await store.write { try $0.update(Dog.self, fido) { $0.age = 3 } }
      var reported: [String] = []
      func report(_ error: StoreError) { reported.append("\(error)") }
      // listing
      do {
        try await draft.save()
      } catch let error as StoreError where error.code == .conflict {
        for conflict in [error] + error.others {
          report(conflict)
          if let record = conflict.object { try draft.rollback(record) }
        }
        try await draft.save()
      }
      // end
      #expect(
        reported.count == 1 && reported[0].contains("attribute: age, was: 0, is: 3, draft: 2"))
      #expect(try store.fetch(FetchDescriptor<Dog>(sortBy: [SortBy(\.age)])).map(\.age) == [0, 3])
    }
  }

  @Test func findOrCreate() async throws {
    try await withWalks { store, _ in
      // listing
      let bella = try await store.write { transaction in
        try transaction.findOrCreate(Dog.self, where: \.name, is: "Bella") { Dog(name: "Bella") }
      }
      // end
      #expect(bella.wasCreated)
    }
  }

  @Test func seeds() async throws {
    try await withWalks { store, _ in
      let path = store.folder + "/dogs.yaml"
      try Self.yaml(1).write(toFile: path, atomically: true, encoding: .utf8)
      // listing
      let outcome = try await store.seed(from: path, named: "first dogs", author: "setup")
      // end
      #expect(outcome == .applied(["Dog": 1, "Walk": 2]))
    }
  }

  @Test func repository() async throws {
    try await withWalks { store, _ in
      // listing
      let repository = Repository(store, author: "ui")
      var walk = try await repository.create(Walk(title: "Round the lake", kilometers: 5))
      walk.value.kilometers = 6
      try await repository.update(walk)
      let total = try await repository.sum(of: \Walk.kilometers)

      let outcome = await repository.create([Dog(name: "Fido"), Dog(name: "Luna")])
      let refused = outcome.failed.map { "\($0.index): \($0.error)" }
      // end
      #expect(total == 6)
      #expect(outcome.success.map(\.value.name) == ["Luna"])
      #expect(refused.count == 1 && refused[0].hasPrefix("0: "))
    }
  }

  @Test func batches() async throws {
    try await withWalks { store, _ in
      try await Repository(store).create(Walk(title: "Harbor", kilometers: 3_000))
      let dogs = [Dog(name: "Fido"), Dog(name: "Luna")]
      // listing
      let metersOnly = try FetchPredicate(format: "kilometers > 100")
      let updated = try await store.execute(
        BatchUpdateRequest(
          "Walk", where: metersOnly, set: ["kilometers": try .format("kilometers / 1000")]))
      let inserted = try await store.execute(BatchInsertRequest(dogs, onConflict: .skip))
      let deleted = try await store.execute(
        BatchDeleteRequest("Walk", where: try FetchPredicate(format: "dog == nil")))
      // end
      #expect(updated.counts.updated == 1 && deleted.counts.deleted == 1)
      #expect(inserted.counts.inserted == 1 && inserted.counts.skipped == 1)
    }
  }

  @Test func history() async throws {
    try await withWalks { store, fido in
      var reported: [String] = []
      func report(_ change: HistoryChange, by author: String?) {
        reported.append(
          "\(author ?? "?") \(change.kind) \(change.objectID) \(change.changedProperties)")
      }
      // listing
      let token = try store.historyToken()
      try await store.write(author: "ui") { try $0.update(Dog.self, fido) { $0.age = 4 } }
      for transaction in try store.history(after: token, of: ["Dog"], exceptBy: "sync") {
        for change in transaction.changes { report(change, by: transaction.author) }
      }
      // end
      #expect(reported == ["ui update Dog/\(fido.number) [\"age\"]"])
    }
  }

  @Test func consumers() async throws {
    try await withWalks { store, fido in
      var index = WordIndex()
      // listing
      func catchUp() async throws {
        guard let token = try store.read({ try $0.historyToken(of: "words") }) else {
          return try await readEverything()
        }
        do {
          let (now, news) = try store.read {
            (try $0.historyToken(), try $0.history(after: token, of: ["Dog"]))
          }
          try index.apply(news, from: store)
          try await store.advance(consumer: "words", to: now)
        } catch let error as StoreError
          where error.code == .expiredToken || error.code == .invalidToken
        {
          try await readEverything()
        }
      }

      func readEverything() async throws {
        let (now, dogs) = try store.read {
          (try $0.historyToken(), try $0.fetch(Dog.fetchRequest()))
        }
        try index.replaceAll(with: dogs)
        try await store.advance(consumer: "words", to: now)
      }
      // end
      try await catchUp()
      #expect(index.names == [fido: "Fido"])
      try await store.write { try $0.update(Dog.self, fido) { $0.name = "Fidel" } }
      let rex = try await store.write { try $0.insert(Dog(name: "Rex")) }
      try await catchUp()
      #expect(index.names == [fido: "Fidel", rex: "Rex"])
      try await store.write { _ = try $0.delete(fido) }
      try await catchUp()
      #expect(index.names == [rex: "Rex"] && index.builds == 1)
      #expect(try store.read { try $0.historyConsumers() }.map(\.unread) == [0])
    }
  }

  @Test func liveResults() async throws {
    try await withWalks { store, fido in
      let (updates, shown) = AsyncStream.makeStream(of: ResultsUpdate<Dog>.self)
      func show(_ update: ResultsUpdate<Dog>) { shown.yield(update) }
      // listing
      let byAge = FetchDescriptor<Dog>(sortBy: [SortBy(\.age), SortBy(\.name)], fetchLimit: 100)
      let following = Task {
        for try await update in try store.results(of: byAge, sectionBy: \.age) {
          show(update)  // update.changes turn the snapshot before into update.snapshot
        }
      }
      // end
      var iterator = updates.makeAsyncIterator()
      #expect(await iterator.next()?.origin == .first)
      try await store.write { try $0.update(Dog.self, fido) { $0.age = 4 } }
      let update = try #require(await iterator.next())
      #expect(update.origin == .changes && update.changes.rows.count == 1)
      #expect(update.changes.sections == [.delete(at: 0, name: 0), .insert(at: 0, name: 4)])
      following.cancel()
      await #expect(throws: CancellationError.self) { try await following.value }
    }
  }

  @Test func liveValues() async throws {
    try await withWalks { store, fido in
      let (counts, shown) = AsyncStream.makeStream(of: Int.self)
      func show(_ count: Int) { shown.yield(count) }
      let following = Task {
        // listing
        for try await count in try store.updates(ofCount: FetchDescriptor<Dog>()) {
          show(count)
        }
        // end
      }
      var iterator = counts.makeAsyncIterator()
      #expect(await iterator.next() == 1)
      try await store.write { _ = try $0.delete(fido) }
      #expect(await iterator.next() == 0)
      following.cancel()
      await #expect(throws: CancellationError.self) { try await following.value }
    }
  }

  // MARK: The page

  /// The migration and the seed of the page.
  private static func yaml(_ number: Int) throws -> String {
    let listings = DocumentationPage.named("WritingAndObserving").listings("yaml")
    try #require(listings.count == 2)
    return listings[number].text
  }

  /// - Parameter body: Gets the store with one dog, Fido.
  private func withWalks(_ body: (Store, ObjectID) async throws -> Void) async throws {
    let source = MigrationSource(embedded: [("0001_walks", Array(try Self.yaml(0).utf8))])
    try await withTemporaryStore(migrations: [source]) { temporary in
      let store = temporary.store
      try store.require([Dog.self, Walk.self])
      let fido = try await store.write { try $0.insert(Dog(name: "Fido")) }
      try await body(store, fido)
    }
  }
}

/// An index outside of the store that a consumer of the history keeps up to date.
private struct WordIndex {
  private(set) var names: [ObjectID: String] = [:]
  private(set) var builds = 0

  mutating func replaceAll(with dogs: [Record]) throws {
    builds += 1
    names = [:]
    for dog in dogs { names[dog.id] = try dog["name"].text }
  }

  mutating func apply(_ news: [HistoryTransaction], from store: Store) throws {
    for change in news.flatMap(\.changes) {
      names[change.objectID] = try store.read { try $0.get(Dog.self, change.objectID) }?.name
    }
  }
}

private struct Dog: Entity {
  var name: String
  var age: Int64 = 0

  static let attributes: [EntityAttribute<Dog>] = [.init("name", \.name), .init("age", \.age)]
}

extension Dog {
  init(from record: inout RecordReader) throws {
    name = try record["name"]
    age = try record["age"]
  }
}

private struct Walk: Entity {
  var title: String
  var kilometers: Double
  var dog: ToOne<Dog>?

  static let attributes: [EntityAttribute<Walk>] = [
    .init("title", \.title), .init("kilometers", \.kilometers),
  ]
  static let relationships: [EntityRelationship<Walk>] = [.init("dog", \.dog)]
}

extension Walk {
  init(from record: inout RecordReader) throws {
    title = try record["title"]
    kilometers = try record["kilometers"]
    dog = try record["dog"]
  }
}
