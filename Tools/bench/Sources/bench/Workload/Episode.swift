import CEpisodes

/// The row of the comparison as an application holds it. Dates are seconds since 2001-01-01, as
/// Foundation's `Date` counts them.
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
  /// Copies a row of the data set, or one that the C candidate fetched.
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
  /// Copies what a C candidate fetched.
  init(_ card: episode_card) {
    self.init(title: String(card.title), updatedAt: card.updated_at)
  }
}

extension String {
  fileprivate init(_ text: episode_text) {
    let bytes = UnsafeRawPointer(text.bytes)
    // SAFETY: a `episode_text` spans `length` bytes that live as long as the data set or the result
    // it came from, and the string copies them before the caller can give either up.
    self.init(
      decoding: UnsafeRawBufferPointer(start: bytes, count: Int(text.length)), as: UTF8.self)
  }
}
