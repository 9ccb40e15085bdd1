import LoopbackHTTP
import TestSupport

/// The publications of a paged feed: its responses by target, for each stage.
struct PagedPublisher: Sendable {
  struct Stage: Sendable {
    /// The responses by target. Other targets are answered with 404.
    var answers: [String: Response] = [:]
    /// The validator of the first page.
    var etag = ""
  }

  /// The path of the feed.
  var path: String
  /// The mapping of the feed; nil for the default of its format.
  var mapping: String?
  var stages: [Stage]
  /// Items that their reader marks after the first stage: one stays, one changes, one goes.
  var marked: [String]

  func answer(_ request: Request, in stage: Int) -> Response {
    guard let answer = stages[stage].answers[request.target] else { return Response(status: 404) }
    let etag = answer.headers.first { $0.0 == "ETag" }
    guard let etag, request.header("If-None-Match") == etag.1 else { return answer }
    return Response(status: 304, headers: [etag])
  }

  private static let pageItems = 500

  // MARK: A JSON API

  /// A feed with a mapping: a full listing, then changes since a token, then, since the token has
  /// expired, a full listing with fewer items.
  static let mappedAPI: PagedPublisher = {
    let path = "/api?kind=episode"
    let first = (0..<3_000).map { Item(number: $0) }
    var changes: [Item] = []
    for number in 0..<1_600 {
      // New ones, changed ones and gone ones on each page.
      switch number % 4 {
      case 0: changes.append(Item(number: number, version: 1))
      case 1: changes.append(Item(number: number, version: 1, isGone: true))
      default: changes.append(Item(number: 3_000 + number, version: 1))
      }
    }
    let gone = Set(changes.filter(\.isGone).map(\.number))
    let new = changes.filter { $0.number >= 3_000 }
    let last = (first + new).filter { !gone.contains($0.number) && $0.number % 10 != 3 }
      .map { Item(number: $0.number, version: $0.number % 7 == 0 ? 2 : 1) }
    return PagedPublisher(
      path: path,
      mapping: """
        mapping: paged
        mode: full
        items: $.items[*]
        id: /id
        updatedAt: /changed
        attributes: { title: /title, duration: /seconds }
        deleted: { items: "$.gone[*]", id: /id, deletedAt: /changed }
        next: /next
        checkpoint: { token: /token, param: since }
        """,
      stages: [
        apiStage(0, first, at: path),
        apiStage(1, changes, at: path + "&since=t0"),
        apiStage(2, last, at: path, expired: path + "&since=t1"),
      ], marked: ["2", "4", "5"])
  }()

  private static func apiStage(
    _ number: Int, _ items: [Item], at path: String, expired: String? = nil
  ) -> Stage {
    var stage = Stage(etag: "\"api-\(number)-0\"")
    let pages = items.split(every: pageItems)
    for (index, page) in pages.enumerated() {
      let next = index + 1 < pages.count ? "\"next\":\"\(path)&page=\(index + 1)\"" : nil
      let members = [
        "\"items\":[\(page.filter { !$0.isGone }.map(\.json).joined(separator: ","))]",
        "\"gone\":[\(page.filter(\.isGone).map(\.json).joined(separator: ","))]",
        next ?? "\"token\":\"t\(number)\"",
      ]
      stage.answers[index == 0 ? path : path + "&page=\(index)"] = Response(
        headers: [("ETag", "\"api-\(number)-\(index)\"")],
        text: "{\(members.joined(separator: ","))}")
    }
    let since = path.prefix { $0 != "&" } + "&since=t\(number)"
    stage.answers[String(since)] = Response(text: "{\"items\":[],\"token\":\"t\(number)\"}")
    if let expired { stage.answers[expired] = Response(status: 410) }
    return stage
  }

  // MARK: RSS

  /// A window and its archives (RFC 5005), which new items push on, with tombstones (RFC 6721).
  static let archivedRSS: PagedPublisher = {
    let first = (0..<3_000).map { Item(number: $0) }
    var news: [Item] = []
    for number in 0..<2_000 {
      switch number % 4 {
      case 0: news.append(Item(number: number, version: 1))
      case 1: news.append(Item(number: number, version: 1, isGone: true))
      default: news.append(Item(number: 3_000 + number, version: 1))
      }
    }
    let changed = Set(news.map(\.number))
    return PagedPublisher(
      path: "/rss",
      stages: [
        rssStage(0, first),
        rssStage(1, news + first.filter { !changed.contains($0.number) }),
      ], marked: ["2", "4", "5"])
  }()

  private static func rssStage(_ number: Int, _ items: [Item]) -> Stage {
    var stage = Stage(etag: "\"rss-\(number)-0\"")
    let pages = items.split(every: pageItems)
    for (index, page) in pages.enumerated() {
      // The pages of the window come first, then its archives.
      let relation = index < 2 ? "next" : "prev-archive"
      let next = "<a:link rel=\"\(relation)\" href=\"/rss?page=\(index + 1)\"/>"
      stage.answers[index == 0 ? "/rss" : "/rss?page=\(index)"] = Response(
        headers: [("ETag", "\"rss-\(number)-\(index)\"")],
        text: """
          <rss version="2.0" xmlns:a="http://www.w3.org/2005/Atom" \
          xmlns:at="http://purl.org/atompub/tombstones/1.0"><channel><title>Paged</title>
          \(index + 1 < pages.count ? next : "")
          \(page.map(\.rss).joined(separator: "\n"))
          </channel></rss>
          """)
    }
    return stage
  }
}

/// An item in one of its versions, each a day after the one before.
private struct Item {
  var number: Int
  var version = 0
  var isGone = false

  private var changed: String { "2026-11-0\(version + 1)T08:00:00Z" }

  var json: String {
    if isGone { return "{\"id\":\"\(number)\",\"changed\":\"\(changed)\"}" }
    return """
      {"id":"\(number)","title":"\(number) v\(version)","changed":"\(changed)",\
      "seconds":\(number)}
      """
  }

  var rss: String {
    if isGone { return "<at:deleted-entry ref=\"\(number)\" when=\"\(changed)\"/>" }
    return """
      <item><guid isPermaLink="false">\(number)</guid><title>\(number) v\(version)</title>\
      <link>https://e.org/\(number)</link><pubDate>\(changed)</pubDate></item>
      """
  }
}

extension Array {
  fileprivate func split(every count: Int) -> [ArraySlice<Element>] {
    stride(from: 0, to: self.count, by: count).map { self[$0..<Swift.min($0 + count, self.count)] }
  }
}
