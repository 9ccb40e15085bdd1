import CMooringCurl
public import Foundation

/// The answer to a request, after redirects and decoding.
///
/// A successful transfer does not prove that the document is complete: libcurl does not notice if a
/// compressed stream or a body without a length ends early. Only a parser that reaches the
/// document's end can show that.
public struct HTTPResponse: Sendable {
  /// One redirect that was followed.
  public struct Redirect: Sendable, Equatable {
    /// 301, 302, 303, 307 or 308.
    public let status: Int
    /// The URLs without user and password.
    public let from: String
    public let to: String

    public init(status: Int, from: String, to: String) {
      self.status = status
      self.from = from
      self.to = to
    }
  }

  public let status: Int
  /// The headers of the final answer, without those of redirects, 1xx answers and trailers.
  ///
  /// Values are trimmed and folded lines joined by a space. A value that is not UTF-8 is read as
  /// Latin-1. Values with control characters and validators that are not UTF-8 are left out,
  /// because they could not be sent back.
  public let headers: [(name: String, value: String)]
  public let body: PaddedBytes
  /// The URL that gave the answer, without user and password.
  public let effectiveURL: String
  public internal(set) var redirects: [Redirect]
  /// The bytes of headers and bodies as transferred, over all requests.
  public package(set) var wireBytes: Int
  /// The number of requests: one, one more per redirect, and one more after a body that could not
  /// be decoded.
  public package(set) var requests: Int
  /// The seconds in `Retry-After`, a date taken relative to the answer's own `Date`; nil if the
  /// header is absent or unreadable.
  public let retryAfter: Int?
  /// True if the answer, and each redirect to it, came from a private address. Only then may a URL
  /// in the answer lead to a private address.
  public internal(set) var isFromPrivateAddress: Bool
  /// True if the host of the request's own URL had a public address. False if its address was
  /// private, or is unknown because of a proxy.
  public internal(set) var isHostPublic: Bool

  public init(
    status: Int, headers: [(name: String, value: String)] = [], body: PaddedBytes = PaddedBytes(),
    effectiveURL: String, redirects: [Redirect] = [], wireBytes: Int = 0, requests: Int = 1,
    retryAfter: Int? = nil, isFromPrivateAddress: Bool = false, isHostPublic: Bool = false
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.effectiveURL = effectiveURL
    self.redirects = redirects
    self.wireBytes = wireBytes
    self.requests = requests
    self.retryAfter = retryAfter
    self.isFromPrivateAddress = isFromPrivateAddress
    self.isHostPublic = isHostPublic
  }

  /// Returns the first header with the name, ignoring case; nil if there is none.
  public func header(_ name: String) -> String? {
    firstValue(of: name, in: headers)
  }

  /// Returns all headers with the name, ignoring case.
  package func headers(named name: String) -> [String] {
    headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  /// The server's time of the answer; nil without a readable `Date` header.
  public var date: Date? {
    header("Date").flatMap(unixSeconds(httpDate:)).map { Date(timeIntervalSince1970: Double($0)) }
  }
}

private func firstValue(of name: String, in headers: [(name: String, value: String)]) -> String? {
  let lowercased = name.lowercased()
  return headers.first { $0.name.lowercased() == lowercased }?.value
}

/// Returns the seconds of `Retry-After` (RFC 9110, section 10.2.3).
///
/// - Parameter localSeconds: The seconds until a date by the local clock, for an answer without a
///   readable `Date`. 0 means unknown.
func retryAfterSeconds(
  in headers: [(name: String, value: String)], localSeconds: Int
) -> Int? {
  guard let text = firstValue(of: "Retry-After", in: headers), !text.isEmpty else { return nil }
  if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
    return Int(text) ?? .max  // A number that no Int holds is still "very long".
  }
  guard let end = unixSeconds(httpDate: text) else { return nil }
  guard let now = firstValue(of: "Date", in: headers).flatMap(unixSeconds(httpDate:)) else {
    return localSeconds > 0 ? localSeconds : nil
  }
  return max(0, end - now)
}

/// Parses the date formats of RFC 9110, section 5.6.7, and others that libcurl knows. Returns the
/// seconds since 1970; nil without libcurl, from which there is no answer then.
func unixSeconds(httpDate text: String) -> Int? {
  // libcurl takes a bare number for a date ("20301231"); in HTTP it is none.
  guard text.contains(":"), let curl = LibCurl.ifAvailable else { return nil }
  let seconds = curl.call.pointee.curl_getdate(text, nil)
  return seconds < 0 ? nil : seconds
}
