import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

/// Counts and aggregates, compared with the same computations in Swift.
@Suite struct RepositoryAggregateTests {
  @Test(arguments: [UInt64(1), 2, 3])
  func aggregatesAreWhatSwiftComputes(seed: UInt64) async throws {
    try await withMovies(seed: seed) { repository, movies in
      for (predicate, isMatch) in try predicates() {
        let all = movies.filter(isMatch)
        #expect(
          try await repository.count(FetchDescriptor<Movie>(predicate: predicate)) == all.count)
        #expect(
          try await repository.sum(of: \Movie.stars, where: predicate)
            == sum(all.map { Int64($0.stars) }))
        #expect(
          try await repository.sum(of: \Movie.votes, where: predicate)
            == sum(all.compactMap(\.votes)))
        #expect(
          try await repository.sum(of: \Movie.rating, where: predicate)
            == sum(all.compactMap(\.rating)))
        #expect(
          try await repository.sum(of: \Movie.boxOffice, where: predicate)
            == sum(all.compactMap(\.boxOffice)))
        #expect(
          try await repository.average(of: \Movie.votes, where: predicate)
            == average(all.compactMap(\.votes).map(Double.init)))
        #expect(
          try await repository.average(of: \Movie.rating, where: predicate)
            == average(all.compactMap(\.rating)))
        let boxOffice = all.compactMap(\.boxOffice)
        #expect(
          try await repository.average(of: \Movie.boxOffice, where: predicate)
            == sum(boxOffice).map { $0 / Decimal(boxOffice.count) })
        #expect(
          try await repository.minimum(of: \Movie.releasedAt, where: predicate)
            == all.compactMap(\.releasedAt).min())
        #expect(
          try await repository.maximum(of: \Movie.releasedAt, where: predicate)
            == all.compactMap(\.releasedAt).max())
        #expect(
          try await repository.minimum(of: \Movie.stars, where: predicate) == all.map(\.stars).min()
        )
        #expect(
          try await repository.maximum(of: \Movie.boxOffice, where: predicate) == boxOffice.max())
        #expect(
          try await repository.maximum(of: \Movie.title, where: predicate)
            == all.map(\.title).max())
      }
    }
  }

  @Test(arguments: [UInt64(4), 5])
  func everyGroupIsThere(seed: UInt64) async throws {
    try await withMovies(seed: seed) { repository, movies in
      let groups = Dictionary(grouping: movies) { [$0.genre.value, $0.stars.value] }
      let keys = groups.keys.sorted { left, right in
        let genres = (left[0].text, right[0].text)
        if left[0].isNull != right[0].isNull { return left[0].isNull }
        return genres.0 == genres.1 ? left[1].text < right[1].text : genres.0 < genres.1
      }
      #expect(keys.count > 10)
      let by: [GroupKey<Movie>] = [\.genre, \.stars]
      func expected<R>(_ value: ([Movie]) -> R) -> [AggregateGroup<R>] {
        keys.map { AggregateGroup(key: $0, value: value(groups[$0] ?? [])) }
      }
      #expect(try await repository.count(of: Movie.self, groupBy: by) == expected(\.count))
      #expect(
        try await repository.sum(of: \Movie.boxOffice, groupBy: by)
          == expected { sum($0.compactMap(\.boxOffice)) })
      #expect(
        try await repository.sum(of: \Movie.votes, groupBy: by)
          == expected { sum($0.compactMap(\.votes)) })
      #expect(
        try await repository.average(of: \Movie.rating, groupBy: by)
          == expected { average($0.compactMap(\.rating)) })
      #expect(
        try await repository.minimum(of: \Movie.releasedAt, groupBy: by)
          == expected { $0.compactMap(\.releasedAt).min() })
      #expect(
        try await repository.maximum(of: \Movie.stars, groupBy: by)
          == expected { $0.map(\.stars).max() })
      let few = try await repository.count(
        of: Movie.self, where: try FetchPredicate(format: "stars > 3"), groupBy: [\.genre])
      #expect(few.map(\.value).reduce(0, +) == movies.filter { $0.stars > 3 }.count)
      #expect(few.count == Set(movies.filter { $0.stars > 3 }.map(\.genre)).count)
    }
  }

  @Test func recordsAreGroupedByAToOneRelationship() async throws {
    try await withRepository { repository in
      let studios = try await repository.insertAtomically([Studio("a"), Studio("b")])
      try await repository.insertAtomically(
        (0..<5).map { Movie("m\($0)", studio: $0 < 4 ? ToOne(studios[$0 % 2].id) : nil) })
      let groups = try await repository.count(of: Movie.self, groupBy: [\.studio])
      let keys = [.null] + studios.map { [Value.int64($0.id.number)][0] }
      #expect(groups.map(\.key) == keys.map { [$0] })
      #expect(groups.map(\.value) == [1, 2, 2])
    }
  }

  @Test func withoutRecordsThereIsNoValue() async throws {
    try await withRepository { repository in
      #expect(try await repository.sum(of: \Movie.stars) == nil)
      #expect(try await repository.average(of: \Movie.rating) == nil)
      #expect(try await repository.minimum(of: \Movie.releasedAt) == nil)
      #expect(try await repository.count(of: Movie.self, groupBy: [\.genre]).isEmpty)
      #expect(try await repository.sum(of: \Movie.stars, groupBy: [\.genre]).isEmpty)
      try await repository.insert(Movie("a"))
      #expect(try await repository.sum(of: \Movie.boxOffice) == nil)
      #expect(
        try await repository.sum(of: \Movie.boxOffice, groupBy: [\.genre])
          == [AggregateGroup(key: [.null], value: nil)])
    }
  }

  @Test func aPropertyThatIsNoAttributeIsRefused() async throws {
    try await withRepository { repository in
      #expect(await code { try await repository.sum(of: \Movie.title.count) } == .invalidRequest)
      #expect(
        await code { try await repository.count(of: Movie.self, groupBy: [\.title.count]) }
          == .invalidRequest)
      #expect(
        await code {
          try await repository.sum(of: \Movie.stars, groupBy: [\.genre, \.genre])
        } == .invalidRequest)
      let nonsense = try FetchPredicate(format: "titel == 'a'")
      #expect(
        await code { try await repository.maximum(of: \Movie.stars, where: nonsense) }
          == .unknownAttribute)
    }
  }

  @Test func aSumThatDoesNotFitIsAnError() async throws {
    try await withRepository { repository in
      try await repository.insertAtomically([Movie("a", votes: .max), Movie("b", votes: 1)])
      #expect(await code { try await repository.sum(of: \Movie.votes) } == .invalidRequest)
      #expect(try await repository.maximum(of: \Movie.votes) == .max)
    }
  }

  @Test func fetchesBringValuesWithTheirIdentitiesAndWhatTheyPrefetch() async throws {
    try await withRepository { repository in
      let studio = try await repository.insert(Studio("Regency"))
      let movies = try await repository.insertAtomically(
        (0..<5).map { Movie("m\($0)", stars: 5 - $0, studio: ToOne(studio.id)) })
      var descriptor = FetchDescriptor<Movie>(
        sortBy: [SortBy(\.stars)], fetchLimit: 2, fetchOffset: 1)
      descriptor.relationshipKeyPathsForPrefetching = [\.studio]
      let fetched = try await repository.fetchIdentified(descriptor)
      #expect(fetched == [movies[3], movies[2]])
      #expect(fetched.map { $0.value.studio?.value?.name } == ["Regency", "Regency"])
      #expect(try await repository.fetch(descriptor) == [movies[3].value, movies[2].value])
      #expect(try await repository.count(descriptor) == 2)
    }
  }

  // MARK: What Swift makes of it

  private func predicates() throws -> [(FetchPredicate?, (Movie) -> Bool)] {
    [
      (nil, { _ in true }),
      (try FetchPredicate(format: "genre == 'drama'"), { $0.genre == "drama" }),
      (
        try FetchPredicate(format: "stars > 4 AND rating != nil"),
        { $0.stars > 4 && $0.rating != nil }
      ),
      (try FetchPredicate(format: "stars > 9"), { _ in false }),
    ]
  }

  private func sum<N: AdditiveArithmetic>(_ numbers: [N]) -> N? {
    numbers.isEmpty ? nil : numbers.reduce(.zero, +)
  }

  private func average(_ numbers: [Double]) -> Double? {
    sum(numbers).map { $0 / Double(numbers.count) }
  }

  /// Movies with few genres and stars, and with nulls.
  private func withMovies(
    seed: UInt64, _ body: (Repository, [Movie]) async throws -> Void
  ) async throws {
    try await withRepository(seed: seed) { repository in
      var random = SeededRandom(seed: testSeed(seed))
      let movies = (0..<400).map { number in
        // Quarters add up without rounding, in any order.
        Movie(
          "m\(number)", genre: random.oneIn(5) ? nil : random.pick(["drama", "crime", "comedy"]),
          stars: random.number(1...5), votes: random.oneIn(3) ? nil : Int64(random.number(-9...99)),
          rating: random.oneIn(4) ? nil : Double(random.number(0...40)) / 4,
          boxOffice: random.oneIn(4) ? nil : Decimal(random.number(0...99_999)) / 100,
          releasedAt: random.oneIn(4)
            ? nil : Date(timeIntervalSinceReferenceDate: Double(random.number(0...999)) / 2))
      }
      try await repository.insertAtomically(movies)
      try await body(repository, movies)
    }
  }
}
