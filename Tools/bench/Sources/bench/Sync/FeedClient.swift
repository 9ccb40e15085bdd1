import CFeedPages
import Foundation

/// The HTTP client of all candidates except Mooring: libcurl used from C, on one connection. It is
/// faster than `URLSession`.
final class FeedClient {
  /// The response to a request.
  enum Answer {
    /// A page. Its bytes are valid until the next request, and are followed by readable padding.
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

  /// Requests a page.
  ///
  /// - Parameter etag: The validator of the last response; the request is then conditional.
  /// - Throws: `candidate` for a failure of libcurl or a status other than 200 and 304.
  func get(_ url: String, etag: String? = nil) throws -> Answer {
    var response = feed_response()
    if let failure = feed_client_get(client, url, etag, &response) {
      throw BenchError(.candidate, "\(url): \(String(cString: failure))")
    }
    switch response.status {
    case 200:
      // SAFETY: the body has `length` bytes, which are valid until the next request.
      return .page(
        UnsafeBufferPointer(start: response.body, count: response.length),
        etag: response.etag.map { String(cString: $0) } ?? "")
    case 304: return .notModified
    default: throw BenchError(.candidate, "\(url): status \(response.status)")
    }
  }
}
