import CEpisodes

/// A row of the data set as a Swift value. Dates are seconds since 2001-01-01, the reference date
/// of Foundation's `Date`.
struct Episode: Equatable {
  var id: String
  var title: String
  var summary: String
  var type: Int
  var duration: Int
  var url: String
  var pathID: String?
  var position: Int?
  var publishedAt: Double
  var updatedAt: Double
  var favoriteAt: Double?
  var watchLaterAt: Double?
  var watchedAt: Double?
  var progress: Double
}

/// The value of `Episode.type` for free episodes.
let freeType = 1

extension Episode {
  /// Copies a row of the data set, or a row that a C candidate fetched.
  init(_ row: episode_row) {
    self.init(
      id: String(row.id), title: String(row.title), summary: String(row.summary),
      type: Int(row.type), duration: Int(row.duration), url: String(row.url),
      pathID: row.path_id.bytes == nil ? nil : String(row.path_id),
      position: row.path_id.bytes == nil ? nil : Int(row.position),
      publishedAt: row.published_at, updatedAt: row.updated_at,
      favoriteAt: row.favorite_at.isNaN ? nil : row.favorite_at,
      watchLaterAt: row.watch_later_at.isNaN ? nil : row.watch_later_at,
      watchedAt: row.watched_at.isNaN ? nil : row.watched_at, progress: row.progress)
  }
}

extension Card {
  /// Copies a card that a C candidate fetched.
  init(_ card: episode_card) {
    self.init(title: String(card.title), updatedAt: card.updated_at)
  }
}

extension String {
  fileprivate init(_ text: episode_text) {
    let bytes = UnsafeRawPointer(text.bytes)
    // SAFETY: an `episode_text` spans `length` bytes that live as long as the data set or the
    // result it came from, and the string copies them before the caller can release either.
    self.init(
      decoding: UnsafeRawBufferPointer(start: bytes, count: Int(text.length)), as: UTF8.self)
  }
}
