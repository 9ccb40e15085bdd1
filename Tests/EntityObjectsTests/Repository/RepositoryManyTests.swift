import EntityModel
import Foundation
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

/// Many records at once: each for itself, and all or none.
@Suite struct RepositoryManyTests {
  @Test func creationReportsEachItemInTheOrderOfTheInput() async throws {
    try await withRepository { repository in
      let movies = (0..<2_500).map { number in
        Movie(number % 7 == 3 ? "m0" : "m\(number)", stars: number % 11 == 5 ? 6 : 2)
      }
      let outcome = await repository.insert(movies)

      let accepted = movies.enumerated().filter { index, movie in
        movie.stars == 2 && (movie.title != "m0" || index == 0)
      }
      #expect(outcome.success.map(\.value) == accepted.map(\.element))
      let refused = movies.indices.filter { index in !accepted.contains { $0.offset == index } }
      #expect(outcome.failed.map(\.index) == refused)
      #expect(outcome.failed.map(\.item) == refused.map { movies[$0] })
      let codes = outcome.failed.map { ($0.error as? StoreError)?.code }
      #expect(codes == refused.map { movies[$0].stars == 6 ? .validation : .uniqueViolation })
      // They are what was stored, and nothing else was.
      let stored = try await repository.fetchIdentified(FetchDescriptor<Movie>())
      #expect(stored == outcome.success)
    }
  }

  @Test func manyItemsShareACommit() async throws {
    try await withRepository { repository in
      func commits(_ body: () async throws -> Void) async throws -> Int {
        let before = try repository.store.read { $0.transaction.id }
        try await body()
        return try repository.store.read { $0.transaction.id } - before
      }
      var write = ItemWrites<Movie, ObjectID>(store: repository.store, author: nil) {
        try $0.insert($1)
      } read: {
        $1
      }
      write.duration = .seconds(3_600)
      let byNumber = try await commits {
        let outcome = await write.run((0..<2_000).map { Movie("m\($0)") })
        #expect(outcome.success.count == 2_000)
      }
      #expect(byNumber == 2)
      write.duration = .zero
      let byTime = try await commits { _ = await write.run((0..<5).map { Movie("t\($0)") }) }
      #expect(byTime == 5)
      let atOnce = try await commits {
        try await repository.insertAtomically((0..<2_000).map { Movie("n\($0)") })
      }
      #expect(atOnce == 1)
    }
  }

  @Test func anUnreadableItemIsNotCreatedAndAffectsNoOther() async throws {
    try await withRepository { repository in
      let movies = (0..<40).map { ChoosyMovie("m\($0)", stars: $0 % 10 == 4 ? 1 : 2) }
      let outcome = await repository.insert(movies)
      #expect(outcome.failed.map(\.index) == [4, 14, 24, 34])
      #expect(
        outcome.failed.map { $0.error as? ChoosyMovie.Refusal }
          == [4, 14, 24, 34].map { ChoosyMovie.Refusal(title: "m\($0)") })
      #expect(outcome.success.count == 36)
      let titles = try await repository.fetch(FetchDescriptor<Movie>()).map(\.title)
      #expect(titles == outcome.success.map(\.value.title))
    }
  }

  @Test func atomicCreationIsAllOrNothingAndNamesTheItem() async throws {
    try await withRepository { repository in
      let good = try await repository.insertAtomically([Movie("a"), Movie("b")])
      #expect(good.map(\.value.title) == ["a", "b"])
      let error = await #expect(throws: StoreError.self) {
        try await repository.insertAtomically([Movie("c"), Movie("d"), Movie("a"), Movie("e")])
      }
      #expect(error?.code == .uniqueViolation)
      #expect(error?.context.first?.0 == "item" && error?.context.first?.1 == "2")
      #expect(try await repository.fetch(FetchDescriptor<Movie>()).map(\.title) == ["a", "b"])
    }
  }

  @Test func updatesReportEachItemOrChangeNone() async throws {
    try await withRepository { repository in
      var movies = try await repository.insertAtomically((0..<5).map { Movie("m\($0)") })
      for number in movies.indices { movies[number].value.stars = number + 1 }
      movies[1].value.title = "m0"
      movies[3] = Identified(ObjectID(entity: "Movie", number: 77), movies[3].value)

      let error = await #expect(throws: StoreError.self) {
        try await repository.updateAtomically(movies)
      }
      #expect(error?.code == .uniqueViolation && error?.context.first?.1 == "1")
      #expect(try await repository.sum(of: \Movie.stars) == 15)

      let outcome = await repository.update(movies)
      #expect(outcome.success == [movies[0], movies[2], movies[4]])
      #expect(outcome.failed.map(\.index) == [1, 3])
      #expect(
        outcome.failed.map { ($0.error as? StoreError)?.code } == [
          .uniqueViolation, .missingRecord,
        ])
      let stars = try await repository.fetch(FetchDescriptor<Movie>()).map(\.stars)
      #expect(stars == [1, 3, 3, 3, 5])
    }
  }

  @Test func deletionsReportEachItemOrRemoveNone() async throws {
    try await withRepository { repository in
      let studio = try await repository.insert(Studio("Regency"))
      let movies = try await repository.insertAtomically(
        (0..<4).map { Movie("m\($0)", studio: $0 == 3 ? ToOne(studio.id) : nil) })
      // Its movie goes with the studio.
      let ids = [movies[0].id, studio.id, movies[3].id, movies[0].id, movies[1].id]
      let error = await #expect(throws: StoreError.self) {
        try await repository.deleteAtomically(ids)
      }
      #expect(error?.code == .missingRecord && error?.context.first?.1 == "2")
      #expect(try await repository.count(FetchDescriptor<Movie>()) == 4)

      let outcome = await repository.delete(ids)
      #expect(outcome.success == [movies[0].id, studio.id, movies[1].id])
      #expect(outcome.failed.map(\.index) == [2, 3])
      #expect(outcome.failed.map(\.item) == [movies[3].id, movies[0].id])
      #expect(try await repository.fetchIdentified(FetchDescriptor<Movie>()) == [movies[2]])
    }
  }

  @Test func readsReportEachItemOrThrow() async throws {
    try await withRepository { repository in
      let movies = try await repository.insertAtomically((0..<3).map { Movie("m\($0)") })
      let gone = ObjectID(entity: "Movie", number: 77)
      let ids = [movies[2].id, gone, movies[0].id]
      let outcome = try await repository.get(Movie.self, ids)
      #expect(outcome.success == [movies[2], movies[0]])
      #expect(outcome.failed.map(\.index) == [1])
      #expect((outcome.failed.first?.error as? StoreError)?.code == .missingRecord)
      let error = await #expect(throws: StoreError.self) {
        try await repository.getAtomically(Movie.self, ids)
      }
      #expect(error?.code == .missingRecord && error?.context.first?.1 == "1")
      #expect(
        try await repository.getAtomically(Movie.self, [movies[1].id]) == [movies[1]])
    }
  }

  @Test func aCancelledTaskWritesNoMoreAndAccountsForEveryItem() async throws {
    try await withRepository { repository in
      let task = Task { () -> ItemResults<Movie, Identified<Movie>> in
        withUnsafeCurrentTask { $0?.cancel() }
        return await repository.insert([Movie("a"), Movie("b")])
      }
      let outcome = await task.value
      #expect(outcome.success.isEmpty)
      #expect(outcome.failed.map(\.index) == [0, 1])
      #expect(outcome.failed.allSatisfy { $0.error is CancellationError })
      let count = try await repository.count(FetchDescriptor<Movie>())
      #expect(count == 0)
    }
  }

  @Test func aFailedTransactionLosesItsChunkAndEndsTheBatch() async throws {
    try await withRepository { repository in
      let write = ItemWrites<Int, ObjectID>(store: repository.store, author: "batch") {
        transaction, number in
        if number == 3 {
          throw StorageError(.diskFull, "no space is left", context: [], advice: "make room")
        }
        return try transaction.insert(Movie("m\(number) of \(transaction.author ?? "")"))
      } read: {
        $1
      }
      let outcome = await write.run(Array(0..<5))
      #expect(outcome.success.isEmpty)
      #expect(outcome.failed.map(\.index) == [0, 1, 2, 3, 4])
      #expect(
        outcome.failed.allSatisfy { ($0.error as? StoreError)?.code == .diskFull })
      #expect(await write.run([7]).success.count == 1)
      let movies = try await repository.fetch(FetchDescriptor<Movie>())
      #expect(movies.map(\.title) == ["m7 of batch"])
    }
  }
}
