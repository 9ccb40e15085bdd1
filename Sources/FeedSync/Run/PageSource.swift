import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import HTTPClient

/// What the server said to one request of a run.
enum PageAnswer: Sendable {
  case page(FeedPage, HTTPResponse)
  case notModified(HTTPResponse)
  /// The same bytes as the last run's only page.
  case sameBytes(HTTPResponse)
  /// An empty delta.
  case nothing(HTTPResponse)
  /// The checkpoint is of no use to the server any more.
  case resync
}

/// What is asked for a page.
struct PageRequest: Sendable {
  let url: String
  let isFirst: Bool
  /// What the request is conditional on; nil for later pages.
  let conditions: HTTPConditions?
  /// Of the last run's only page.
  let bodyHash: Int64?
  /// What the operator typed may be private; what a public server names may not.
  let allowsPrivateAddresses: Bool
  /// What the run knows of the document that it asks for.
  let document: DocumentSource
}

/// Asks for the pages of a feed and reads them; knows HTTP and the formats, but not the store.
struct PageSource: Sendable {
  let transport: any HTTPTransport
  let feed: Feed
  let token: String?
  let mappings: FeedMappings

  /// A validator of an answer as it is, unless it is empty or could not be sent back.
  static func validator(_ name: String, of response: HTTPResponse) -> String? {
    response.header(name).flatMap { $0.isEmpty || hasControlCharacter($0) ? nil : $0 }
  }

  /// An answer and what it took.
  struct Fetched: Sendable {
    var answer: PageAnswer
    var requests: Int
    var bytes: Int
  }

  /// - Throws: `HTTPError`, `SyncError` for a status that gives no page, or a document that cannot
  ///   be read.
  func fetch(_ request: PageRequest) async throws -> Fetched {
    var response = try await send(request, request.conditions, [])
    var fetched = Fetched(
      answer: .nothing(response), requests: response.requests, bytes: response.wireBytes)
    let wasAsked = request.conditions?.wereSent(to: response.effectiveURL) ?? false
    if response.status == 304, !wasAsked {
      // Some servers answer 304 to whoever they have seen before; asked in earnest they give in.
      response = try await send(request, nil, [("Cache-Control", "no-cache")])
      fetched.requests += response.requests
      fetched.bytes += response.wireBytes
      if response.status == 304 {
        throw SyncError(
          .unaskedNotModified, "the server answers 304 to a request that was not conditional",
          [("url", shownURL(request.url))], advice: "tell the feed's publisher")
      }
    }
    fetched.answer = try answer(
      response, request.url, isFirst: request.isFirst, request.bodyHash, request.document)
    return fetched
  }

  private func answer(
    _ response: HTTPResponse, _ url: String, isFirst: Bool, _ bodyHash: Int64?,
    _ document: DocumentSource
  ) throws -> PageAnswer {
    switch response.status {
    case 200: return try page(response, url, bodyHash, document)
    case 304: return .notModified(response)
    case 204: return .nothing(response)
    case 410 where isResync(response): return .resync
    // What a mapped feed says of a checkpoint that has expired.
    case let status
    where isFirst && document.isDelta && mappings.hasOwnMapping && [400, 404, 410].contains(status):
      return .resync
    case let status where !isFirst && [400, 404, 410].contains(status):
      throw SyncError(
        .badStatus, "the feed's next page is not there any more",
        [("url", shownURL(url)), ("status", String(response.status))],
        advice: "try again: the listing will begin anew", endsListing: true)
    default: throw failure(response, url)
    }
  }

  func send(
    _ request: PageRequest, _ conditions: HTTPConditions?,
    _ more: [(name: String, value: String)]
  ) async throws -> HTTPResponse {
    var headers: [(name: String, value: String)] = [
      (
        "Accept",
        "application/vnd.homefeed+json;version=1, application/feed+json, application/atom+xml, "
          + "application/rss+xml, application/json;q=0.5, application/xml;q=0.5, */*;q=0.1"
      )
    ]
    // A redirect or a next page may lead to another server, which must not learn it.
    if let token, WebURL.isSameOrigin(request.url, feed.url) {
      headers.append(("Authorization", "Bearer " + token))
    }
    return try await transport.send(
      HTTPRequest(
        url: request.url, headers: headers + more, decodedBytesMax: Limits.pageBytesMax,
        allowsPrivateAddresses: request.allowsPrivateAddresses, conditions: conditions))
  }

  private func page(
    _ response: HTTPResponse, _ url: String, _ bodyHash: Int64?, _ document: DocumentSource
  ) throws -> PageAnswer {
    var document = document
    document.contentType = response.header("Content-Type")
    document.url = response.effectiveURL
    return try response.body.withUnsafeBytes { bytes in
      if let bodyHash, ContentHash.of(bytes) == bodyHash { return .sameBytes(response) }
      do throws(DocumentError) {
        var page = try FeedPage.parse(bytes, document, by: mappings)
        if mappings.followsLinkHeader {
          page.next = LinkHeader.target(of: "next", in: response.headers(named: "Link"))
        }
        return .page(page, response)
      } catch {
        throw SyncError(
          .badDocument, "the feed's document cannot be read",
          [("url", shownURL(url)), ("reason", error.description)], advice: error.advice)
      }
    }
  }

  private func isResync(_ response: HTTPResponse) -> Bool {
    response.body.withUnsafeBytes { bytes in
      String(decoding: bytes.prefix(200), as: UTF8.self).contains("\"resync\"")
    }
  }

  func failure(_ response: HTTPResponse, _ url: String) -> SyncError {
    let context = [("url", shownURL(url)), ("status", String(response.status))]
    let refusal = SyncError.Refusal(
      status: response.status, host: WebURL.host(of: response.effectiveURL),
      // No server can ask for longer: beyond that it is a mistake of its own.
      retryAfter: response.retryAfter.map { min(Double($0), Limits.waitMax) },
      requests: response.requests, bytes: response.wireBytes)
    switch response.status {
    case 410:
      return SyncError(
        .gone, "the feed is gone for good", context,
        advice: "its records are kept; remove it with `mooring feed remove`, or ask again after "
          + "`mooring feed resume`", refusal: refusal)
    case 429, 503:
      let seconds = refusal.retryAfter.map { [("seconds", String(Int($0)))] } ?? []
      return SyncError(
        .waiting, "the server asks to wait", context + seconds, advice: "try again later",
        refusal: refusal)
    case 401, 403:
      return SyncError(
        .badStatus, "the server refuses access", context,
        advice: "check the token file (`mooring feed add URL --token-file F`)", refusal: refusal)
    case 404:
      return SyncError(
        .notFound, "there is no feed there", context, advice: "check the URL", refusal: refusal)
    default:
      return SyncError(
        .badStatus, "the server gave no feed", context, advice: "try again later",
        refusal: refusal)
    }
  }
}
