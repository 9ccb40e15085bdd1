import CFeedPages
import Foundation

/// libcurl from C on one connection: what all sides but Mooring ask the feed's server with, as it
/// is quicker than `URLSession`.
final class FeedClient {
  enum Answer {
    /// The bytes are valid until the next request, and some padding behind them may be read.
    case page(UnsafeBufferPointer<CChar>, etag: String)
    case notModified
  }

  private let client: OpaquePointer

  init() throws {
    guard let client = feed_client_open() else {
      throw BenchError(.outOfMemory, "no memory for a connection")
    }
    self.client = client
  }

  deinit { feed_client_close(client) }

  /// - Parameter etag: Asks only for what has changed since the answer that had it.
  func get(_ url: String, etag: String? = nil) throws -> Answer {
    var response = feed_response()
    if let failure = feed_client_get(client, url, etag, &response) {
      throw BenchError(.candidate, "\(url): \(String(cString: failure))")
    }
    switch response.status {
    case 200:
      // SAFETY: C has `length` bytes there, which stay until the next request.
      return .page(
        UnsafeBufferPointer(start: response.body, count: response.length),
        etag: response.etag.map { String(cString: $0) } ?? "")
    case 304: return .notModified
    default: throw BenchError(.candidate, "\(url): status \(response.status)")
    }
  }
}
