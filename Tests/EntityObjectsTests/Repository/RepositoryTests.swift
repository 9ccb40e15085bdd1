import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

/// One record at a time, and what surrounds it.
@Suite struct RepositoryTests {
  @Test func aValueIsCreatedReadUpdatedAndDeleted() async throws {
    try await withRepository { repository in
      var created = try await repository.insert(Movie("Heat", stars: 4, boxOffice: 187.4))
      #expect(created.value == Movie("Heat", stars: 4, boxOffice: 187.4))
      #expect(try await repository.get(Movie.self, created.id) == created.value)

      created.value.genre = "crime"
      #expect(try await repository.update(created) == created)
      #expect(try await repository.get(Movie.self, created.id).genre == "crime")
      let other = Movie("Heat 2", releasedAt: Date(timeIntervalSinceReferenceDate: 0.25))
      #expect(try await repository.update(created.id, with: other) == other)
      #expect(try await repository.get(Movie.self, created.id) == other)

      try await repository.delete(created.id)
      #expect(try await repository.count(FetchDescriptor<Movie>()) == 0)
    }
  }

  @Test func anUpdateKeepsWhatTheTypeDoesNotKnow() async throws {
    try await withRepository { repository in
      let movie = try await repository.insert(Movie("Heat"))
      try await repository.transaction { transaction in
        try transaction.update(movie.id) { try $0.set("shelf", to: "top") }
      }
      try await repository.update(movie.id, with: Movie("Heat", stars: 5))
      #expect(try repository.store.read { try $0.value("shelf", of: movie.id) } == "top")
    }
  }

  @Test func creationReturnsTheStoredValue() async throws {
    try await withRepository { repository in
      let studio = try await repository.insert(Studio("Regency"))
      #expect(studio.value.movies.owner == studio.id)
      let movie = try await repository.insert(Movie("Heat", studio: ToOne(studio.id)))
      #expect(try repository.store.read { try $0.related(studio.id, "movies") } == [movie.id])
    }
  }

  @Test func aMissingRecordIsAnErrorAndNeverAnEmptyResult() async throws {
    try await withRepository { repository in
      let gone = ObjectID(entity: "Movie", number: 99)
      #expect(await code { try await repository.get(Movie.self, gone) } == .missingRecord)
      #expect(
        await code { try await repository.update(gone, with: Movie("a")) } == .missingRecord)
      #expect(await code { try await repository.delete(gone) } == .missingRecord)
      let studio = try await repository.insert(Studio("Regency"))
      #expect(await code { try await repository.get(Movie.self, studio.id) } == .invalidRequest)
      #expect(
        await code { try await repository.update(studio.id, with: Movie("a")) } == .invalidRequest)
    }
  }

  @Test func aRefusedWriteHasChangedNothing() async throws {
    try await withRepository { repository in
      let heat = try await repository.insert(Movie("Heat"))
      #expect(
        await code { try await repository.insert(Movie("Ronin", stars: 9)) } == .validation)
      #expect(await code { try await repository.insert(Movie("Heat")) } == .uniqueViolation)
      #expect(
        await code { try await repository.update(heat.id, with: Movie("Heat", stars: 0)) }
          == .validation)
      // It is written and cannot be read back.
      await #expect(throws: ChoosyMovie.Refusal(title: "Ronin")) {
        try await repository.insert(ChoosyMovie("Ronin", stars: 1))
      }
      #expect(try await repository.fetch(FetchDescriptor<Movie>()) == [Movie("Heat")])
    }
  }

  @Test func aURLStandsForARecordOfItsOwnStore() async throws {
    try await withRepository { repository in
      let movie = try await repository.insert(Movie("Heat"))
      let url = try await repository.url(of: movie.id)
      #expect(try await repository.objectID(at: url) == movie.id)
      #expect(try await repository.get(Movie.self, at: url) == movie)
      let foreign = movie.id.url(in: UUID())
      #expect(await code { try await repository.get(Movie.self, at: foreign) } == .invalidRequest)
      try await repository.delete(movie.id)
      #expect(await code { try await repository.get(Movie.self, at: url) } == .missingRecord)
    }
  }

  @Test func theAuthorIsTheRepositorysUnlessTheCallNamesAnother() async throws {
    try await withRepository(author: "ui") { repository in
      let author = try await repository.transaction { $0.author }
      #expect(author == "ui")
      #expect(try await repository.transaction(author: "sync") { $0.author } == "sync")
      #expect(try await Repository(repository.store).transaction { $0.author } == nil)
    }
  }

  @Test func everyWriteIsByItsAuthor() async throws {
    try await withRepository(author: "ui") { repository in
      let movies = try await repository.insertAtomically((0..<5).map { Movie("m\($0)") })
      let token = try repository.store.historyToken()
      for author in [nil, "sync"] {
        let created = try await repository.insert(Movie("new"), author: author)
        try await repository.update(created.id, with: Movie("newer"), author: author)
        try await repository.update(Identified(created.id, Movie("newest")), author: author)
        try await repository.delete(created.id, author: author)
        let many = await repository.insert([Movie("a")], author: author).success
        let atOnce = try await repository.insertAtomically([Movie("b")], author: author)
        _ = await repository.update([Identified(many[0].id, Movie("c"))], author: author)
        try await repository.updateAtomically(
          [Identified(atOnce[0].id, Movie("d"))], author: author)
        _ = await repository.delete(many.map(\.id), author: author)
        try await repository.deleteAtomically(atOnce.map(\.id), author: author)
      }
      let authors = try repository.store.history(after: token).map(\.author)
      #expect(
        authors == [String?](repeating: "ui", count: 10) + [String?](repeating: "sync", count: 10))
      #expect(try await repository.fetchIdentified(FetchDescriptor<Movie>()) == movies)
    }
  }

  @Test func readsRunOnTheStoresThreadsAndEndAtTheirDeadline() async throws {
    try await withRepository { repository in
      _ = try await repository.insertAtomically((0..<600).map { Movie("m\($0)") })
      var impatient = repository
      impatient.options = AsynchronousFetchOptions(snapshotLimit: .zero)
      let descriptor = FetchDescriptor<Movie>(
        predicate: try FetchPredicate(format: "stars == 3"))
      #expect(await code { try await impatient.fetch(descriptor) } == .snapshotExpired)
      #expect(await code { try await impatient.count(descriptor) } == .snapshotExpired)
      #expect(await code { try await impatient.sum(of: \Movie.stars) } == .snapshotExpired)
      #expect(try await repository.fetch(descriptor).count == 600)
    }
  }
}

/// - Parameter seed: Of the store's random numbers.
func withRepository(
  seed: UInt64 = 1, author: String? = nil, isolation: isolated (any Actor)? = #isolation,
  _ body: (Repository) async throws -> Void
) async throws {
  try await withTemporaryStore(seed: seed, migrations: [.cinema]) { temporary in
    try await body(Repository(temporary.store, author: author))
  }
}
