import Foundation

/// Reads pages with `JSONDecoder` into `Decodable` structs and saves them with GRDB.
final class DecodedPages: FeedPageReader {
  private let store: any EpisodeSaver
  private let decoder = JSONDecoder()
  private var waiting: [Episode] = []

  init(_ store: some EpisodeSaver) {
    self.store = store
    decoder.dateDecodingStrategy = .iso8601
  }

  var count: Int { waiting.count }

  func add(_ page: UnsafeBufferPointer<CChar>) throws -> String? {
    guard let start = page.baseAddress else { return nil }
    // SAFETY: the decoder copies what it keeps, and the bytes are valid during the call.
    let data = Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: page.count, deallocator: .none)
    let document = try decoder.decode(FeedDocument.self, from: data)
    waiting += document.episodes
    return document.page.next
  }

  func commit() throws {
    try store.save(waiting)
    waiting.removeAll(keepingCapacity: true)
  }
}

/// The members of a page of the home feed that this program needs.
struct FeedDocument: Decodable {
  struct Item: Decodable {
    let id: String
    let updatedAt: Date
    let attrs: Attributes
  }

  struct Attributes: Decodable {
    let title: String
    let summary: String
    let type: Int
    let duration: Int
    let url: String
    let path: String?
    let position: Int?
    let publishedAt: Date
  }

  /// The user's own values of an item.
  struct UserValues: Decodable {
    let id: String
    let favoriteAt: Date?
    let watchLaterAt: Date?
    let watchedAt: Date?
    let progress: Double?
  }

  struct Page: Decodable {
    let next: String?
  }

  let entities: [Item]
  let user: [UserValues]
  let page: Page

  var episodes: [Episode] {
    let values = Dictionary(user.map { ($0.id, $0) }) { $1 }
    return entities.map { Episode($0, values[$0.id]) }
  }
}

extension Episode {
  fileprivate init(_ item: FeedDocument.Item, _ values: FeedDocument.UserValues?) {
    self.init(
      id: item.id, title: item.attrs.title, summary: item.attrs.summary, type: item.attrs.type,
      duration: item.attrs.duration, url: item.attrs.url, pathID: item.attrs.path,
      position: item.attrs.position,
      publishedAt: item.attrs.publishedAt.timeIntervalSinceReferenceDate,
      updatedAt: item.updatedAt.timeIntervalSinceReferenceDate,
      favoriteAt: values?.favoriteAt?.timeIntervalSinceReferenceDate,
      watchLaterAt: values?.watchLaterAt?.timeIntervalSinceReferenceDate,
      watchedAt: values?.watchedAt?.timeIntervalSinceReferenceDate,
      progress: values?.progress ?? 0)
  }
}
