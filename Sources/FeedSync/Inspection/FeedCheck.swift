import EntityModel
package import EntityStore
import FeedDocuments
import Foundation
package import HTTPClient

/// Requests a URL before it becomes a feed, under the rules of a sync, and stores nothing.
///
/// The URL may be that of an HTML page: then the feed that it names first is requested, with
/// secrets the first one on the page's own server.
package struct FeedCheck: Sendable {
  /// A feed that was found.
  package struct Finding: Sendable {
    /// The requested URL, or the one that the requested page names.
    package var url: String
    package var format: String
    package var items: Int
    /// The number of these that a sync would not store.
    package var unusable = 0
    /// The deviations of the document, as the report of a sync has them.
    package var warnings: [String] = []
    package var title: String?
    package var isHostPublic: Bool
    /// True if the requested URL is that of a page.
    package var isNamedByPage = false
    /// The other feeds that the page names.
    package var others: [(url: String, title: String?)] = []
  }

  private let store: Store
  private let transport: any HTTPTransport
  private let hostSpacing: Duration
  private let pace = HostPace()
  /// Waits for a turn at a host; tests replace it.
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

  /// - Parameter hostSpacing: The time between the requests for two URLs of one host.
  package init(store: Store, transport: any HTTPTransport, hostSpacing: Duration = .seconds(2)) {
    self.store = store
    self.transport = transport
    self.hostSpacing = hostSpacing
  }

  /// Requests the URL once, and the feed that it names, if it is a page.
  ///
  /// - Throws: `SyncError` and `HTTPError` as a sync does; `badDocument` for a page that names no
  ///   feed; `foreignPage` if it names only those on other servers and secrets are set;
  ///   `invalidFeed` if it names one that exists, whose settings would change.
  package func check(_ url: String, _ settings: Feeds.Settings) async throws -> Finding {
    if let error = Feeds.refusal(of: url) { throw error }
    try Feeds(store).check(settings, of: [url])
    let feed = try feed(at: url, settings)
    try await waitForTurn(feed.host)
    let source = try source(of: feed)
    let request = request(for: feed, allowsPrivateAddresses: true)
    let response = try await source.response(to: request)
    do {
      return try finding(source, response, request)
    } catch let error as SyncError
      where error.code == .badDocument && !source.mappings.hasOwnMapping
    {
      let links = response.body.withUnsafeBytes {
        FeedLinks($0, contentType: response.header("Content-Type"))
      }
      guard let links else { throw error }
      return try await self.finding(namedBy: links, of: response, feed, settings)
    }
  }

  /// Returns the URL's feed with the settings, as it is stored or as it would be.
  private func feed(at url: String, _ settings: Feeds.Settings) throws -> Feed {
    var feed =
      try stored(url)
      ?? Feed(url: url, entity: settings.entity ?? Feeds.entity, addedAt: store.now())
    feed.apply(settings)
    return feed
  }

  private func stored(_ url: String) throws -> Feed? {
    try store.read { transaction in
      try transaction.objectID(Feed.entityName, by: ["url": .string(url)])
        .flatMap { try transaction.get(Feed.self, $0) }
    }
  }

  /// - Throws: `waiting` if the host has asked to wait.
  private func waitForTurn(_ host: String) async throws {
    let now = store.now()
    if let until = try store.read({ try Hosts.wait(for: host, in: $0) }), until > now {
      throw SyncError(
        .waiting, "the host has requested a wait for all its feeds",
        [("host", host), ("until", Value.date(until).text)],
        advice: "try again then")
    }
    guard hostSpacing > .zero, !Hosts.isPrivate(host) else { return }
    let wait = pace.reserve(host, spacing: hostSpacing, others: [], now: now)
      .timeIntervalSince(now)
    if wait > 0 { try await sleep(.seconds(wait)) }
  }

  private func source(of feed: Feed) throws -> PageSource {
    let schema = try store.catalog().schema
    return PageSource(
      transport: transport, feed: feed, secrets: try feed.secrets.read(),
      mappings: try FeedMappings(feed.mappingText, schema: schema, entity: feed.entity))
  }

  private func request(for feed: Feed, allowsPrivateAddresses: Bool) -> PageRequest {
    PageRequest(
      url: feed.url, isFirst: true, conditions: nil, bodyHash: nil,
      allowsPrivateAddresses: allowsPrivateAddresses && !feed.requiresPublicAddress,
      document: DocumentSource(identity: feed.identity))
  }

  private func finding(
    _ source: PageSource, _ response: HTTPResponse, _ request: PageRequest
  ) throws -> Finding {
    guard case .page(let page, _) = try source.answer(response, request) else {
      throw source.failure(response, request.url)
    }
    let report = try report(on: page, of: source.feed)
    return Finding(
      url: request.url, format: page.format.rawValue,
      items: page.items.count + page.rejected.count,
      unusable: report.rejected + report.unknownKinds, warnings: report.warnings,
      title: page.title?.shortened(),
      isHostPublic: source.feed.isPublic(response, to: request.url))
  }

  /// Converts the items as a sync does.
  ///
  /// - Throws: `tooManyRejected` and `nothingUsable` as a sync does.
  private func report(on page: FeedPage, of feed: Feed) throws -> SyncReport {
    let now = store.now()
    var mapper = ItemMapper(
      targets: try store.read { try FeedTarget.all(in: $0) }, defaultEntity: feed.entity,
      feedID: 0, now: now)
    var checkpoint = SyncCheckpoint(feed: feed, startedAt: now)
    checkpoint.add(page, identity: feed.identity)
    let items = try mapper.map(page, &checkpoint.report)
    let rejected = checkpoint.report.rejected
    checkpoint.listed = items.count + rejected
    try checkpoint.checkRejections(page, rejected: rejected, of: checkpoint.listed)
    // The items that can be used may be on a later page.
    if page.next == nil { try checkpoint.checkUsable(hasOwnMapping: feed.mapping != nil) }
    return checkpoint.report
  }

  // MARK: Pages

  private func finding(
    namedBy links: FeedLinks, of response: HTTPResponse, _ page: Feed, _ settings: Feeds.Settings
  ) async throws -> Finding {
    var named = Self.feeds(of: links, response)
    guard let foreign = named.first else {
      throw SyncError(
        .badDocument, "the URL is that of a page, and the page names no feed",
        [("url", shownURL(page.url))],
        advice: "look on the page for the URL of its feed, and add that one")
    }
    guard
      let index = named.firstIndex(where: {
        page.secrets.isEmpty || WebURL.isSameOrigin($0.url, page.url)
      })
    else {
      throw SyncError(
        .foreignPage, "the page names a feed on another server, to which no secret is sent",
        [("page", shownURL(page.url)), ("feed", shownURL(foreign.url))],
        advice: "add the feed's own URL if the secret is meant for that server")
    }
    let url = named.remove(at: index).url
    if settings.changesFeeds, let known = try stored(url), !known.isRemoved {
      throw SyncError(
        .invalidFeed, "the page names a feed that exists already",
        [("page", shownURL(page.url)), ("feed", shownURL(url))],
        advice: "give the feed's own URL to change its settings")
    }
    let feed = try feed(at: url, settings)
    let source = try source(of: feed)
    // A page may lead into the private network only if it is there, and only to its own host.
    let request = request(
      for: feed,
      allowsPrivateAddresses: response.isFromPrivateAddress
        && WebURL.host(of: url) == WebURL.host(of: response.effectiveURL))
    try await waitForTurn(feed.host)
    let answer = try await source.response(to: request)
    var finding = try finding(source, answer, request)
    finding.isNamedByPage = true
    finding.others = named
    return finding
  }

  /// Returns the absolute URLs of the feeds, each once and without a fragment.
  private static func feeds(
    of links: FeedLinks, _ response: HTTPResponse
  ) -> [(url: String, title: String?)] {
    let page = response.effectiveURL
    let named = links.base.map { URLReference.resolve($0, base: page) } ?? page
    let base = WebURL.host(of: named) == nil ? page : named
    var feeds: [(url: String, title: String?)] = []
    for link in links.links {
      let address = URLReference.resolve(link.href, base: base).prefix { $0 != "#" }
      let url = PageAddress.escaped(String(address))
      guard Feeds.refusal(of: url) == nil, !WebURL.isSame(url, page),
        !feeds.contains(where: { $0.url == url })
      else { continue }
      feeds.append((url, link.title))
    }
    return feeds
  }
}
