import HTTPClient
import LoopbackHTTP
import TestSupport

@testable import FeedSync

/// Syncs a feed over libcurl.
struct ServedFeed {
  fileprivate let engine: SyncEngine
  fileprivate let id: Int64

  func callAsFunction(
    _ options: SyncEngine.Options = SyncEngine.Options()
  ) async throws -> SyncReport {
    try await engine.sync(id, options: options)
  }
}

/// Runs `body` with a feed that the handler serves, and expects that its store is sound at the end.
func withServedFeed(
  _ settings: Feeds.Settings = Feeds.Settings(), isolation: isolated (any Actor)? = #isolation,
  _ handler: @escaping LoopbackServer.Handler,
  _ body: (SyncFixture, LoopbackServer, _ sync: ServedFeed) async throws -> Void
) async throws {
  let server = try LoopbackServer(handler: handler)
  defer { server.stop() }
  let transport = try CurlTransport()
  defer { transport.shutdown() }
  try await withSync { fixture async throws in
    let url = server.url + "/feed"
    try await Feeds(fixture.store).add(url, settings)
    let engine = SyncEngine(
      store: fixture.store, transport: transport, now: { [clock = fixture.clock] in clock.now })
    let feed = ServedFeed(engine: engine, id: try Feeds(fixture.store).find(url).id)
    try await body(fixture, server, feed)
  }
}
