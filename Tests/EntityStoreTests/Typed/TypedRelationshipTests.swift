import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore

/// Relationships of Swift types.
@Suite struct TypedRelationshipTests {
  @Test func linksAreWrittenAndRead() async throws {
    try await withTemporaryStore(migrations: [.library]) { temporary in
      let store = temporary.store
      let (one, two, first) = try await store.write { transaction in
        let one = try transaction.insert(Book(title: "one"))
        let two = try transaction.insert(Book(title: "two"))
        let first = try transaction.insert(Chapter(title: "a", pages: 3, book: ToOne(one)))
        try transaction.insert(Chapter(title: "b", pages: 5, book: ToOne(one)))
        return (one, two, first)
      }
      func book(of chapter: ObjectID) throws -> ObjectID? {
        try store.read { try $0.get(Chapter.self, chapter) }?.book?.id
      }
      #expect(try book(of: first) == one)
      #expect(try store.read { try $0.related(one, "chapters") }.count == 2)
      try await store.write { try $0.update(Chapter.self, first) { $0.book = ToOne(two) } }
      #expect(try book(of: first) == two)
      #expect(try store.read { try $0.related(two, "chapters") } == [first])
      try await store.write { try $0.update(Chapter.self, first) { $0.book = nil } }
      #expect(try book(of: first) == nil)
      #expect(
        await code {
          try await store.write {
            try $0.update(Chapter.self, first) { $0.book = ToOne(first) }
          }
        } == .invalidRequest)
    }
  }

  @Test func prefetchingFillsTheValues() async throws {
    try await withTemporaryStore(migrations: [.library]) { temporary in
      let store = temporary.store
      try await store.write { transaction in
        let series = try transaction.insert(Series(name: "s"))
        let book = try transaction.insert(Book(title: "t", series: ToOne(series)))
        try transaction.insert(Book(title: nil))
        for (title, pages) in [("x", 9), ("a", 1)] {
          try transaction.insert(Chapter(title: title, pages: pages, book: ToOne(book)))
        }
      }
      let plain = try store.fetch(FetchDescriptor<Book>())
      #expect(plain.map { $0.series?.value?.name } == [nil, nil])
      #expect(plain.map { $0.chapters.values?.count } == [nil, nil])
      var descriptor = FetchDescriptor<Book>()
      descriptor.relationshipKeyPathsForPrefetching = [\.series, \.chapters]
      let books = try store.fetch(descriptor)
      #expect(books.map { $0.series?.value?.name } == ["s", nil])
      #expect(books.map { $0.chapters.values?.map(\.title) } == [["x", "a"], []])
      var request = Book.fetchRequest()
      request.relationshipKeyPathsForPrefetching = ["chapters.book"]
      #expect(code { try store.fetch(request, as: Book.self) } == .invalidRequest)
    }
  }

  @Test(arguments: [UInt64(1), 2])
  func predicatesThroughRelationshipsMatchWhatSwiftDoes(seed: UInt64) async throws {
    try await withTemporaryStore(seed: seed, migrations: [.library]) { temporary in
      let random = temporary.random
      try await temporary.store.write { transaction in
        var random = random
        let series = try (0..<3).map { try transaction.insert(Series(name: "s\($0)")) }
        let books = try (0..<15).map { number in
          try transaction.insert(
            Book(
              title: random.oneIn(3) ? nil : random.pick(["a", "b"]),
              series: random.oneIn(3) ? nil : ToOne(random.pick(series))))
        }
        for _ in 0..<40 {
          try transaction.insert(
            Chapter(
              title: random.pick(["a", "b", "c"]), pages: random.number(0...5),
              book: random.oneIn(4) ? nil : ToOne(random.pick(books))))
        }
      }
      try compare(chapters, [\.book], temporary.store, seed)
      try compare(books, [\.series, \.chapters], temporary.store, seed)
    }
  }

  private func compare<T: Entity>(
    _ predicates: [Predicate<T>], _ prefetched: [any PartialKeyPath<T> & Sendable],
    _ store: Store, _ seed: UInt64
  ) throws {
    var descriptor = FetchDescriptor<T>()
    descriptor.relationshipKeyPathsForPrefetching = prefetched
    let all = try store.fetch(descriptor)
    let identifiers = try store.fetchIdentifiers(descriptor)
    for predicate in predicates {
      let expected = zip(identifiers, all).filter { _, value in
        (try? predicate.evaluate(value)) ?? false
      }.map(\.0)
      descriptor.predicate = try FetchPredicate(predicate)
      let found = try store.fetchIdentifiers(descriptor)
      #expect(found == expected, "\(descriptor.predicate?.description ?? ""), seed \(seed)")
    }
  }

  private var chapters: [Predicate<Chapter>] {
    let id = ObjectID(entity: "Book", number: 3)
    return [
      #Predicate<Chapter> { $0.book == nil },
      #Predicate<Chapter> { $0.book?.id == id },
      #Predicate<Chapter> { $0.book?.id != id },
      #Predicate<Chapter> { $0.book?.value?.title == "a" },
      #Predicate<Chapter> { $0.book?.value?.title != "a" },
      #Predicate<Chapter> { ($0.book?.value?.title ?? "a") == "a" && $0.pages > 2 },
      #Predicate<Chapter> { $0.book!.value!.title == nil },
    ]
  }

  private var books: [Predicate<Book>] {
    [
      #Predicate<Book> { $0.chapters.values!.contains { $0.pages > 3 && $0.title == "a" } },
      #Predicate<Book> { !$0.chapters.values!.contains { $0.pages > 3 } },
      #Predicate<Book> { $0.chapters.values!.allSatisfy { $0.pages > 1 } },
      #Predicate<Book> { $0.chapters.values?.isEmpty == true },
      #Predicate<Book> { $0.chapters.values!.count > 2 || $0.series?.value?.name == "s1" },
    ]
  }

  @Test func aTypeWhoseRelationshipsDoNotFitIsRefused() async throws {
    try await withTemporaryStore(migrations: [.library]) { temporary in
      try temporary.store.require([Chapter.self, Book.self, Series.self])
      do {
        try temporary.store.require([Misfit.self])
        Issue.record("a type fits that does not")
      } catch let error as StoreError {
        #expect(error.code == .schemaMismatch)
        #expect(
          error.context.map { "\($0.0): \($0.1)" } == [
            "Book.series: required here, optional in the store",
            "Book.chapters: to-one here, to-many in the store",
            "Book.absent: no such relationship",
          ])
      }
      do {
        try temporary.store.require([Stranger.self])
        Issue.record("a type fits that does not")
      } catch let error as StoreError {
        #expect(
          error.context.map { "\($0.0): \($0.1)" } == [
            "Chapter.book: leads to Series here, to Book in the store"
          ])
      }
      let id = try await temporary.store.write { try $0.insert(Book(title: "a")) }
      #expect(code { try temporary.store.read { try $0.get(Misfit.self, id) } } == .schemaMismatch)
    }
  }
}

private struct Misfit: Entity {
  var series: ToOne<Series>
  var chapters: ToOne<Chapter>?
  var absent = ToMany<Chapter>("absent")

  static let entityName = "Book"
  static let attributes: [EntityAttribute<Misfit>] = []
  static let relationships: [EntityRelationship<Misfit>] = [
    .init("series", \.series), .init("chapters", \.chapters), .init("absent", \.absent),
  ]
  init(from record: inout RecordReader) throws { series = try record["series"] }
}

private struct Stranger: Entity {
  var book: ToOne<Series>?

  static let entityName = "Chapter"
  static let attributes: [EntityAttribute<Stranger>] = []
  static let relationships: [EntityRelationship<Stranger>] = [.init("book", \.book)]
  init(from record: inout RecordReader) throws { book = try record["book"] }
}
