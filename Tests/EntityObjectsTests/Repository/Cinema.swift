import EntityStore
import Foundation
import Migrations

struct Movie: Entity, Equatable {
  var title: String
  var genre: String?
  var stars: Int
  var votes: Int64?
  var rating: Double?
  var boxOffice: Decimal?
  var releasedAt: Date?
  var studio: ToOne<Studio>?

  static let attributes: [EntityAttribute<Movie>] = [
    .init("title", \.title), .init("genre", \.genre), .init("stars", \.stars),
    .init("votes", \.votes), .init("rating", \.rating), .init("boxOffice", \.boxOffice),
    .init("releasedAt", \.releasedAt),
  ]
  static let relationships: [EntityRelationship<Movie>] = [.init("studio", \.studio)]

  init(
    _ title: String, genre: String? = nil, stars: Int = 3, votes: Int64? = nil,
    rating: Double? = nil, boxOffice: Decimal? = nil, releasedAt: Date? = nil,
    studio: ToOne<Studio>? = nil
  ) {
    self.title = title
    self.genre = genre
    self.stars = stars
    self.votes = votes
    self.rating = rating
    self.boxOffice = boxOffice
    self.releasedAt = releasedAt
    self.studio = studio
  }

  init(from record: inout RecordReader) throws {
    title = try record["title"]
    genre = try record["genre"]
    stars = try record["stars"]
    votes = try record["votes"]
    rating = try record["rating"]
    boxOffice = try record["boxOffice"]
    releasedAt = try record["releasedAt"]
    studio = try record["studio"]
  }
}

struct Studio: Entity, Equatable {
  var name: String
  var movies = ToMany<Movie>("movies")

  static let attributes: [EntityAttribute<Studio>] = [.init("name", \.name)]
  static let relationships: [EntityRelationship<Studio>] = [.init("movies", \.movies)]

  init(_ name: String) { self.name = name }

  init(from record: inout RecordReader) throws {
    name = try record["name"]
    movies = try record["movies"]
  }
}

/// The records of `Movie`, of which those with one star cannot be read.
struct ChoosyMovie: Entity {
  struct Refusal: Error, Equatable {
    let title: String
  }

  var title: String
  var stars: Int

  static let entityName = "Movie"
  static let attributes: [EntityAttribute<ChoosyMovie>] = [
    .init("title", \.title), .init("stars", \.stars),
  ]

  init(_ title: String, stars: Int) {
    self.title = title
    self.stars = stars
  }

  init(from record: inout RecordReader) throws {
    title = try record["title"]
    stars = try record["stars"]
    if stars == 1 { throw Refusal(title: title) }
  }
}

extension MigrationSource {
  static let cinema = MigrationSource(embedded: [("0001_cinema", Array(cinemaSchema.utf8))])
}

private let cinemaSchema = """
  line: cinema
  summary: Movies and the studios that made them
  steps:
    - createEntity: { name: Studio, attributes: [{ name: name, type: string }] }
    - createEntity:
        name: Movie
        attributes:
          - { name: title, type: string }
          - { name: genre, type: string, optional: true }
          - { name: stars, type: int64, min: 1, max: 5 }
          - { name: votes, type: int64, optional: true }
          - { name: rating, type: double, optional: true }
          - { name: boxOffice, type: decimal, optional: true }
          - { name: releasedAt, type: date, optional: true }
          - { name: shelf, type: string, default: new }
    - createIndex: { on: Movie, name: byTitle, keys: [title], unique: true }
    - createIndex: { on: Movie, name: byReleased, keys: [releasedAt] }
    - createRelationship:
        on: Movie
        name: studio
        to: Studio
        inverse: { name: movies, deleteRule: cascade }
  """
