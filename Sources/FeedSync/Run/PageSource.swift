import EntityModel
import EntityStore
import Foundation

/// What the server said to one request of a run.
enum PageAnswer {
  case page(FeedPage, HTTPResponse)
  case notModified(HTTPResponse)
  /// The same bytes as the last run's only page.
  case sameBytes(HTTPResponse)
  /// An empty delta.
  case nothing(HTTPResponse)
  /// The checkpoint is of no use to the server any more.
  case resync
}

/// Asks for the pages of a feed and reads them; knows HTTP and the formats, but not the store.
struct PageSource: Sendable {
  let transport: any HTTPTransport
  let feed: Feed
  let token: String?

  /// Validators of the first page; both exactly as the server gave them.
  struct Validators: Sendable {
    var etag: String?
    var lastModified: String?
    var isEmpty: Bool { etag == nil && lastModified == nil }
  }

  /// A validator of an answer as it is, unless it could not be sent back.
  static func validator(_ name: String, of response: HTTPResponse) -> String? {
    response.header(name).flatMap { hasControlCharacter($0) ? nil : $0 }
  }

  /// - Parameter validators: What the request is conditional on; empty for later pages.
  /// - Parameter bodyHash: Of the last run's only page.
  /// - Throws: `HTTPError`, `SyncError` for a status that gives no page, or a document that cannot
  ///   be read.
  func fetch(
    _ url: String, isFirst: Bool, validators: Validators, bodyHash: Int64?,
    _ report: inout SyncReport
  ) async throws -> PageAnswer {
    var response = try await send(url, validators, [], &report)
    if response.status == 304, validators.isEmpty {
      // Some servers answer 304 to whoever they have seen before; asked in earnest they give in.
      response = try await send(
        url, validators, [("Cache-Control", "no-cache")], &report)
      if response.status == 304 {
        throw SyncError(
          .unaskedNotModified, "the server answers 304 to a request that was not conditional",
          [("url", url)], advice: "tell the feed's publisher")
      }
    }
    switch response.status {
    case 200: return try page(response, url, bodyHash)
    case 304: return .notModified(response)
    case 204: return .nothing(response)
    case 410 where isResync(response): return .resync
    case let status where !isFirst && [400, 404, 410].contains(status):
      throw SyncError(
        .badStatus, "the feed's next page is not there any more",
        [("url", url), ("status", String(response.status))],
        advice: "try again: the listing will begin anew", endsListing: true)
    default: throw failure(response, url)
    }
  }

  private func send(
    _ url: String, _ validators: Validators, _ more: [(name: String, value: String)],
    _ report: inout SyncReport
  ) async throws -> HTTPResponse {
    var headers: [(name: String, value: String)] = [
      (
        "Accept",
        "application/vnd.homefeed+json;version=1, application/feed+json, application/json;q=0.5"
      )
    ]
    if let etag = validators.etag { headers.append(("If-None-Match", etag)) }
    if let date = validators.lastModified { headers.append(("If-Modified-Since", date)) }
    // A redirect or a next page may lead to another server, which must not learn it.
    if let token, PageAddress.isSameOrigin(url, feed.url) {
      headers.append(("Authorization", "Bearer " + token))
    }
    let response = try await transport.send(
      HTTPRequest(
        url: url, headers: headers + more, decodedBytesMax: Limits.pageBytesMax))
    report.requests += response.requests
    report.bytes += response.wireBytes
    return response
  }

  private func page(
    _ response: HTTPResponse, _ url: String, _ bodyHash: Int64?
  ) throws -> PageAnswer {
    try response.body.withUnsafeBytes { bytes in
      if let bodyHash, ContentHash.of(bytes) == bodyHash { return .sameBytes(response) }
      do throws(DocumentError) {
        return .page(
          try FeedPage.parse(bytes, contentType: response.header("Content-Type")), response)
      } catch {
        throw SyncError(
          .badDocument, "the feed's document cannot be read",
          [("url", url), ("reason", error.description)], advice: error.advice)
      }
    }
  }

  private func isResync(_ response: HTTPResponse) -> Bool {
    response.body.withUnsafeBytes { bytes in
      String(decoding: bytes.prefix(200), as: UTF8.self).contains("\"resync\"")
    }
  }

  private func failure(_ response: HTTPResponse, _ url: String) -> SyncError {
    let context = [("url", url), ("status", String(response.status))]
    switch response.status {
    case 410:
      return SyncError(
        .gone, "the feed is gone for good", context,
        advice: "its records are kept; remove it with `mooring feed remove`")
    case 429, 503:
      let seconds = response.retryAfter.map { min($0, 7 * 86_400) }
      return SyncError(
        .waiting, "the server asks to wait",
        context + (seconds.map { [("seconds", String($0))] } ?? []), advice: "try again later")
    case 401, 403:
      return SyncError(
        .badStatus, "the server refuses access", context,
        advice: "check the token file (`mooring feed add URL --token-file F`)")
    case 404:
      return SyncError(.badStatus, "there is no feed there", context, advice: "check the URL")
    default:
      return SyncError(.badStatus, "the server gave no feed", context, advice: "try again later")
    }
  }
}
