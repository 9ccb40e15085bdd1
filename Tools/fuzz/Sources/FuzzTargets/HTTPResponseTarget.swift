import Foundation
import Mooring

@testable import FeedDocuments
@testable import FeedSync
@testable import HTTPClient

/// Reads the lines as the header of an answer. Waits and promises are within their bounds; the
/// validators can be stored and sent back; a redirect keeps to https and takes no secret to another
/// origin; the next page is of the same origin.
@_cdecl("fuzz_http_response")
public func fuzzHTTPResponse(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
  // SAFETY: libFuzzer keeps the `count` bytes until this returns; they are copied.
  let input = UnsafeBufferPointer(start: bytes, count: count)
  var collector = HeaderCollector()
  let lines = input.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
  for line in lines + [[13]] {
    (line + [10]).withUnsafeBytes { collector.append(line: $0) }
  }
  var response = HTTPResponse(
    status: 429, headers: collector.headers, effectiveURL: url,
    retryAfter: retryAfterSeconds(in: collector.headers, localSeconds: 5))
  guard response.headers.allSatisfy({ !hasControlCharacter($0.value) }) else {
    fatalError("a control character: \(response.headers)")
  }
  do {
    response = try followRedirects(response)
  } catch is HTTPError {
    // It stays without redirects.
  } catch {
    fatalError("an error of another kind: \(error)")
  }
  checkTimes(response)
  checkFirstAnswer(response)
  checkNextPage(response)
}

private let url = "https://feed.example/list?page=1"
private let now = Date(timeIntervalSince1970: 1_800_000_000)

private func followRedirects(_ response: HTTPResponse) throws -> HTTPResponse {
  let secret = "Authorization"
  var request = HTTPRequest(url: url, headers: [("Accept", "*/*"), ("X-Key", "1")])
  request.secretHeaders = [(secret, "Bearer 1")]
  var route = try Route(request, redirectsMax: 5)
  let origin = route.url.origin
  for location in response.headers(named: "Location") {
    let target = URLReference.resolve(location, base: route.url.text)
    try route.follow(status: 301, to: target, from: IPAddress(text: "203.0.113.1"))
    guard route.url.origin.scheme == "https", !WebURL.hasCredentials(route.url.text) else {
      fatalError("a redirect to \(route.url)")
    }
    let hasSecret = route.headers.contains { [secret, "X-Key"].contains($0.name) }
    guard route.url.origin == origin || !hasSecret else { fatalError("a secret left its origin") }
    _ = shownURL(target)
  }
  return route.finish(response, from: IPAddress(text: "203.0.113.1"))
}

private func checkTimes(_ response: HTTPResponse) {
  if let wait = response.retryAfter, wait < 0 { fatalError("a wait of \(wait) s") }
  if let promise = Freshness.promise(of: response, now: now), !(0...1 << 31).contains(promise) {
    fatalError("a promise of \(promise) s")
  }
}

private func checkFirstAnswer(_ response: HTTPResponse) {
  let first = FirstAnswer(response, checkpoint: nil, timeToLive: nil, isOwn: false, now: now)
  if let seconds = first.freshFor, !(SyncLimits.freshMin...SyncLimits.freshMax).contains(seconds) {
    fatalError("fresh for \(seconds) s")
  }
  do {
    let stored = try JSONEncoder().encode(first)
    let read = try JSONDecoder().decode(FirstAnswer.self, from: stored)
    guard read.etag == first.etag, read.lastModified == first.lastModified else {
      fatalError("the stored validators are others")
    }
    var request = HTTPRequest(url: first.url)
    request.conditions = HTTPConditions(
      url: first.url, etag: read.etag, lastModified: read.lastModified)
    _ = try Route(request, redirectsMax: 5)
  } catch {
    fatalError("the validators cannot be sent: \(error)")
  }
}

private func checkNextPage(_ response: HTTPResponse) {
  guard let next = LinkHeader.target(of: "next", in: response.headers(named: "Link")) else {
    return
  }
  do {
    let page = try PageAddress.resolve(next, from: url)
    guard WebURL.isSameOrigin(page, url), !WebURL.hasCredentials(page) else {
      fatalError("the next page is \(page)")
    }
  } catch is SyncError {
    return
  } catch {
    fatalError("an error of another kind: \(error)")
  }
}
