import EntityModel
import EntityStore
import FeedSync
import Foundation
import HTTPClient
import HomeFeed
import LoopbackHTTP
import Migrations
import Synchronization
import TestSupport

extension PreparedWork {
  /// Two syncs of a feed of several pages, in a store with values of the user.
  static func sync(in root: String) async throws -> PreparedWork {
    let publisher = try Publisher()
    let store = try openSynced(root + "/store", migrate: .ifEmpty)
    try await Feeds(store).add(publisher.url)
    try await sync(store, publisher)
    try await store.write { transaction in
      for episode in try transaction.fetch(FetchRequest(entityName: "Episode")) {
        try transaction.update(episode.id) { try $0.set("progress", to: 0.5) }
      }
    }
    return PreparedWork { recorder, _ in
      for version in 2...Publisher.versions {
        publisher.publish(version, isLong: true)
        try recorder.run(["sync-feed", recorder.path("store"), publisher.url])
      }
      publisher.publish(Publisher.versions, isLong: false)
    } problems: { image, acknowledged in
      let folder = image + "/store"
      try requireUndamaged(folder)
      let store = try openSynced(folder, migrate: .never)
      let least = 1 + acknowledged.words(after: "synced").count
      var problems = try problems(of: store, versions: least...Publisher.versions)
      // The first of them may continue a run whose pages were those of an earlier version.
      for _ in 0..<2 { try await sync(store, publisher) }
      try requireClean(store)
      try requireWholePages(store)
      problems += try self.problems(of: store, versions: Publisher.versions...Publisher.versions)
      return problems
    }
  }

  private static func openSynced(
    _ folder: String, migrate: Store.MigrationPolicy
  ) throws -> Store {
    try openStore(at: folder, migrations: [.homeFeed, .feeds], migrate: migrate)
  }

  private static func sync(_ store: Store, _ publisher: Publisher) async throws {
    let engine = SyncEngine(store: store, transport: try CurlTransport())
    _ = try await engine.sync(try Feeds(store).find(publisher.url).id)
  }

  /// Compares the episodes with what the feed had in some versions, and with the user's values.
  private static func problems(
    of store: Store, versions: ClosedRange<Int>
  ) throws -> [String] {
    var found: [String: Record] = [:]
    for episode in try store.fetch(FetchRequest(entityName: "Episode")) {
      found[try episode["id"].text] = episode
    }
    var problems: [String] = []
    for number in 1...Publisher.numbers.upperBound {
      let id = "ep:\(number)"
      let episode = found.removeValue(forKey: id)
      let title = try episode?["title"].text
      let titles = versions.map { Publisher.title(number, version: $0) }
      if !titles.contains(title) { problems.append("\(id): \(title ?? "missing")") }
      if let episode, Publisher.title(number, version: 1) != nil,
        try episode["progress"] != 0.5
      {
        problems.append("\(id) has lost its progress")
      }
    }
    return problems + found.keys.map { "\($0) is there" }
  }
}

/// A server of a feed that changes from version to version.
private final class Publisher: Sendable {
  static let versions = 3
  static let numbers = 1...120
  private static let perPage = 10

  private let server: LoopbackServer
  private let state: State
  var url: String { server.url + "/feed" }

  private final class State: Sendable {
    let value = Mutex((version: 1, isLong: false))
  }

  init() throws {
    let state = State()
    self.state = state
    server = try LoopbackServer { request, connection in
      let page = request.target.split(separator: "=").last.flatMap { Int($0) } ?? 0
      let (version, isLong) = state.value.withLock { $0 }
      let text = Self.document(page: page, version: version, isLong: isLong)
      try connection.send(
        Response(headers: [("Content-Type", "application/json")], body: Array(text.utf8)))
    }
  }

  /// - Parameter isLong: True for a feed with so many items that a sync has several commits.
  func publish(_ version: Int, isLong: Bool) {
    state.value.withLock { $0 = (version, isLong) }
  }

  /// Returns the title of an episode; `nil` if the version does not have it.
  ///
  /// Some episodes come with a version, some go with one, and most change with each.
  static func title(_ number: Int, version: Int) -> String? {
    if number % 9 == 1, number / 9 % 3 + 1 > version { return nil }
    if number % 9 == 2, version > number / 9 % 2 + 1 { return nil }
    return "episode \(number) of version \(number % 4 == 0 ? 1 : version)"
  }

  private static func document(page: Int, version: Int, isLong: Bool) -> String {
    let rest = numbers.dropFirst(page * perPage)
    var items = rest.prefix(perPage).compactMap { number in
      title(number, version: version).map { title in
        """
        {"id":"ep:\(number)","kind":"Episode","rev":\(number % 4 == 0 ? 1 : version),\
        "updatedAt":"2026-01-0\(version)T00:00:00Z","attrs":{"title":"\(title)","type":1}}
        """
      }
    }
    if isLong {
      // A sync commits after 1,000 items. These are deletions of what was never there.
      items += (0..<400).map { number in
        "{\"id\":\"gone:\(page):\(number)\",\"kind\":\"Episode\",\"rev\":1,\"deleted\":true}"
      }
    }
    let next = rest.count > perPage ? ",\"page\":{\"next\":\"/feed?page=\(page + 1)\"}" : ""
    return """
      {"format":"homefeed/1","mode":"full","epoch":"e1","version":\(version),\
      "entities":[\(items.joined(separator: ","))]\(next)}
      """
  }
}
