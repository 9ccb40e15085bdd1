import Foundation
import LoopbackHTTP
import SystemSupport

/// A feed of one episode with a new revision at each request.
final class EpisodeFeed: Sendable {
  private let server: LoopbackServer
  /// Holds answers back until it is fired.
  private let gate: Signal?

  /// - Parameter padding: Bytes of the episode's summary.
  init(gate: Signal? = nil, padding: Int = 0) throws {
    self.gate = gate
    let count = Counter()
    let summary = String(repeating: "x", count: padding)
    server = try LoopbackServer { [gate] _, connection in
      let revision = count.next()
      if let gate { try connection.stall(until: gate) }
      let document = """
        {"format":"homefeed/1","mode":"full","epoch":"e1","version":\(revision),"entities":[\
        {"id":"ep:1","kind":"Episode","rev":\(revision),"updatedAt":"2026-11-01T08:00:00Z",\
        "attrs":{"title":"revision \(revision)","summary":"\(summary)"}}]}
        """
      try connection.send(
        Response(headers: [("Content-Type", "application/json")], text: document))
    }
  }

  var url: String { server.url + "/home" }
  var requestCount: Int { server.requests.count }

  func stop() {
    gate?.fire()
    server.stop()
  }
}

private final class Counter: Sendable {
  private let count = Locked(0)

  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
