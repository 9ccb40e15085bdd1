import CMooringCurl
public import Foundation

/// The answer to a request, after redirects and decoding.
///
/// That the transfer succeeded does not prove that the document is whole: a compressed stream or
/// a body without a length may end early unnoticed (`reference/feed-sync.md`, 2.1, rows 7 and 15).
/// Only a parser that reaches the document's end can tell.
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
  /// The headers of the final answer only: none of redirects, of 1xx answers, or of trailers. The
  /// values are trimmed, folded lines joined by a space; text that is not UTF-8 is read as
  /// Latin-1. A value with a control character is left out, since it could not be sent back, and
  /// so is a validator that is not UTF-8.
  public let headers: [(name: String, value: String)]
  public let body: PaddedBytes
  /// The URL that gave the answer, without user and password.
  public let effectiveURL: String
  public let redirects: [Redirect]
  /// Bytes of headers and of bodies as they came over the wire, over all requests made.
  public let wireBytes: Int
  /// The requests made: one, one more per redirect, and one more after a body that could not be
  /// decoded.
  public let requests: Int
  /// Seconds that the server asked to wait, a date taken relative to the answer's own `Date`; nil
  /// when absent or unreadable.
  public let retryAfter: Int?
  /// Whether the answer, and each redirect to it, came from an address that is not public. Only then
  /// may a URL that it names lead to such an address.
  public let isFromPrivateAddress: Bool

  public init(
    status: Int, headers: [(name: String, value: String)] = [], body: PaddedBytes = PaddedBytes(),
    effectiveURL: String, redirects: [Redirect] = [], wireBytes: Int = 0, requests: Int = 1,
    retryAfter: Int? = nil, isFromPrivateAddress: Bool = false
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
  }

  /// The first header of that name, whatever its case; nil when there is none.
  public func header(_ name: String) -> String? {
    firstValue(of: name, in: headers)
  }

  /// All headers of that name, whatever its case.
  func headers(named name: String) -> [String] {
    headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  /// The server's clock when it answered; nil without a readable `Date` header.
  public var date: Date? {
    header("Date").flatMap(unixSeconds(httpDate:)).map { Date(timeIntervalSince1970: Double($0)) }
  }
}

func firstValue(of name: String, in headers: [(name: String, value: String)]) -> String? {
  let lowercased = name.lowercased()
  return headers.first { $0.name.lowercased() == lowercased }?.value
}

/// The seconds of `Retry-After` (RFC 9110, section 10.2.3).
///
/// - Parameter localSeconds: what the local clock makes of a date; used when the answer has no
///   readable `Date`, and 0 stands for nothing.
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

/// Reads the date formats of RFC 9110, section 5.6.7, and what else libcurl understands.
func unixSeconds(httpDate text: String) -> Int? {
  // A bare number is a date to libcurl ("20301231"), but to HTTP it is none.
  guard text.contains(":") else { return nil }
  let seconds = curl_getdate(text, nil)
  return seconds < 0 ? nil : seconds
}
