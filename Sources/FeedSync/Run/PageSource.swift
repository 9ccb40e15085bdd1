import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import HTTPClient

/// The result of one request of a run.
enum PageAnswer: Sendable {
  case page(FeedPage, HTTPResponse)
  case notModified(HTTPResponse)
  /// The same bytes as the last run's only page.
  case sameBytes(HTTPResponse)
  /// An answer without content, such as an empty delta.
  case empty(HTTPResponse)
  /// The server has no use for the checkpoint any more.
  case resync(HTTPResponse)

  var response: HTTPResponse {
    switch self {
    case .page(_, let response), .notModified(let response), .sameBytes(let response),
      .empty(let response), .resync(let response):
      response
    }
  }
}

/// A request for a page.
struct PageRequest: Sendable {
  let url: String
  let isFirst: Bool
  /// The validators of the first page; nil for later pages.
  let conditions: HTTPConditions?
  /// The hash of the last run's only page.
  let bodyHash: Int64?
  /// True for URLs that the operator chose or a private server named.
  let allowsPrivateAddresses: Bool
  /// The facts about the document that the run knows in advance.
  let document: DocumentSource
}

/// Fetches and parses the pages of a feed. Knows HTTP and the formats, but not the store.
struct PageSource: Sendable {
  let transport: any HTTPTransport
  let feed: Feed
  /// The headers with the feed's secrets.
  let secrets: [(name: String, value: String)]
  let mappings: FeedMappings
  /// The command whose options change the limits of the feed; nil for the one that is running.
  var limitCommand: String? = "mooring feed add URL"

  /// - Returns: The answer; its counts include a repeated request.
  /// - Throws: `HTTPError`; `SyncError` for a status without a page or a document that cannot be
  ///   read. Both with the counts of their requests.
  func fetch(_ request: PageRequest) async throws -> PageAnswer {
    let response = try await response(to: request)
    do {
      return try answer(response, request)
    } catch var error as SyncError {
      error.isHostPublic = feed.isPublic(response, to: request.url)
      (error.requests, error.bytes) = (response.requests, response.wireBytes)
      throw error
    }
  }

  /// Sends the request again after a 304 to a request that was not conditional: some servers answer
  /// so to every client that they know, unless it forbids caches.
  private func sendPastCaches(
    _ request: PageRequest, after first: HTTPResponse
  ) async throws -> HTTPResponse {
    do {
      var response = try await send(request, nil, [("Cache-Control", "no-cache")])
      response.requests += first.requests
      response.wireBytes += first.wireBytes
      return response
    } catch var error as HTTPError {
      error.requests += first.requests
      error.wireBytes += first.wireBytes
      throw error
    }
  }

  /// Sends the request, and once more if the server answers 304 to an unconditional one.
  ///
  /// - Throws: `unaskedNotModified` if it does so again.
  func response(to request: PageRequest) async throws -> HTTPResponse {
    let first = try await send(request, request.conditions)
    let wasConditional = request.conditions?.wereSent(to: first.effectiveURL) ?? false
    if first.status != 304 || wasConditional { return first }
    let response = try await sendPastCaches(request, after: first)
    guard response.status == 304 else { return response }
    var error = SyncError(
      .unaskedNotModified, "the server answers 304 to a request that was not conditional",
      [("url", shownURL(request.url))], advice: "report it to the feed's publisher")
    error.isHostPublic = feed.isPublic(response, to: request.url)
    (error.requests, error.bytes) = (response.requests, response.wireBytes)
    throw error
  }

  /// Reads an answer.
  func answer(_ response: HTTPResponse, _ request: PageRequest) throws -> PageAnswer {
    let isMissing = [400, 404, 410].contains(response.status)
    switch response.status {
    case 200: return try page(response, request)
    case 304: return .notModified(response)
    case 204: return .empty(response)
    case 410 where isResync(response): return .resync(response)
    // The answer of a mapped feed to a checkpoint that has expired.
    case _ where isMissing && request.isFirst && request.document.isDelta && mappings.hasOwnMapping:
      return .resync(response)
    case _ where isMissing && !request.isFirst:
      throw SyncError(
        .badStatus, "the feed's next page no longer exists",
        [("url", shownURL(request.url)), ("status", String(response.status))],
        advice: "try again: the listing will be read from its start", endsListing: true)
    default: throw failure(response, request.url)
    }
  }

  /// Sends the request once.
  ///
  /// - Parameter more: Further headers.
  func send(
    _ request: PageRequest, _ conditions: HTTPConditions?,
    _ more: [(name: String, value: String)] = []
  ) async throws -> HTTPResponse {
    let headers: [(name: String, value: String)] = [
      (
        "Accept",
        "application/vnd.homefeed+json;version=1, application/feed+json, application/atom+xml, "
          + "application/rss+xml, application/json;q=0.5, application/xml;q=0.5, */*;q=0.1"
      )
    ]
    var sent = HTTPRequest(
      url: request.url, headers: headers + more,
      decodedBytesMax: feed.sizeLimit.map(Int.init) ?? SyncLimits.pageBytesMax,
      allowsPrivateAddresses: request.allowsPrivateAddresses, conditions: conditions)
    if let seconds = feed.timeLimit {
      sent.timeout = .seconds(seconds)
      sent.endsSlowTransfers = false
    }
    // A redirect or a next page may lead to another server, which must not get them.
    if WebURL.isSameOrigin(request.url, feed.url) { sent.secretHeaders = secrets }
    do {
      return try await transport.send(sent)
    } catch var error as HTTPError {
      error.callerAdvice = LimitAdvice(sent, command: limitCommand).text(on: error)
      throw error
    }
  }

  private func page(_ response: HTTPResponse, _ request: PageRequest) throws -> PageAnswer {
    var document = request.document
    document.contentType = response.header("Content-Type")
    document.url = response.effectiveURL
    return try response.body.withUnsafeBytes { bytes in
      if let bodyHash = request.bodyHash, ContentHash.of(bytes) == bodyHash {
        return .sameBytes(response)
      }
      do throws(DocumentError) {
        var page = try FeedPage.parse(bytes, document, by: mappings)
        if mappings.followsLinkHeader {
          page.next = LinkHeader.target(of: "next", in: response.headers(named: "Link"))
        }
        return .page(page, response)
      } catch {
        throw SyncError(
          .badDocument, "the feed's document cannot be read",
          [("url", shownURL(request.url)), ("reason", error.description)], advice: error.advice)
      }
    }
  }

  private func isResync(_ response: HTTPResponse) -> Bool {
    response.body.withUnsafeBytes { bytes in
      String(decoding: bytes.prefix(200), as: UTF8.self).contains("\"resync\"")
    }
  }

  /// Returns the error for an answer without a page.
  func failure(_ response: HTTPResponse, _ url: String) -> SyncError {
    let context = [("url", shownURL(url)), ("status", String(response.status))]
    let refusal = SyncError.Refusal(
      status: response.status, host: WebURL.host(of: response.effectiveURL),
      // A longer wait is taken for a mistake of the server.
      retryAfter: response.retryAfter.map { min(Double($0), SyncLimits.waitMax) })
    switch response.status {
    case 410:
      return SyncError(
        .gone, "the feed is gone for good", context,
        advice: feed.isRemoved || feed.format == nil
          ? "check the URL"
          : "its records are kept; remove it with `mooring feed remove`, or request it again "
            + "after `mooring feed resume`", refusal: refusal)
    case 429, 503:
      let seconds = refusal.retryAfter.map { [("seconds", String(Int($0)))] } ?? []
      return SyncError(
        .waiting, "the server requests a wait", context + seconds, advice: "try again later",
        refusal: refusal)
    case 401, 403:
      return SyncError(
        .refused, "the server refuses access", context,
        advice: accessAdvice(response), refusal: refusal)
    case 404:
      return SyncError(
        .notFound, "there is no feed there", context, advice: "check the URL", refusal: refusal)
    case 407, 408, 425, 500...:
      return SyncError(
        .badStatus, "the server gave no feed", context, advice: "try again later",
        refusal: refusal)
    default:
      return SyncError(
        .refused, "the server gave no feed", context, advice: "check the URL", refusal: refusal)
    }
  }

  private func accessAdvice(_ response: HTTPResponse) -> String {
    if !secrets.isEmpty {
      let url = response.effectiveURL
      if WebURL.isSameOrigin(url, feed.url) { return "check the feed's secret" }
      return "the secret is not sent to \(WebURL.host(of: url) ?? "another server"), where the "
        + "server redirects; add \(shownURL(url)) if it is meant for it"
    }
    return response.status == 401
      ? "if you have a secret, give it in a file (--token-file, --password-file, --header-file)"
      : "open the URL in a browser: the server may want a secret (--token-file), or no programs"
  }
}
