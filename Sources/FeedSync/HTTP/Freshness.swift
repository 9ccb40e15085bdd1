import Foundation

/// For how long an answer stays good, as the server says (RFC 9111, section 4.2).
enum Freshness {
  /// What the headers promise.
  enum Promise: Equatable {
    /// Nothing is said.
    case none
    /// Good for so many seconds from when the answer came; 0 when it is to be asked for each time.
    case seconds(Int)
  }

  /// `max-age` less `Age`, else `Expires` less the answer's own `Date`. `no-store` and `no-cache` are
  /// a promise of nothing. What cannot be read is taken as stale, as the standard asks.
  ///
  /// - Parameter now: Stands in for a `Date` that is missing.
  static func promise(of response: HTTPResponse, now: Date) -> Promise {
    let control = directives(of: response)
    if control.contains(where: { $0.name == "no-store" || $0.name == "no-cache" }) {
      return .seconds(0)
    }
    let ages = control.filter { $0.name == "max-age" }.map { seconds($0.value) ?? 0 }
    if let maxAge = ages.min() {
      let age = response.header("Age").flatMap(seconds) ?? 0
      return .seconds(max(0, maxAge - age))
    }
    guard let expires = response.header("Expires") else { return .none }
    guard let end = unixSeconds(httpDate: expires) else { return .seconds(0) }
    let start = response.date ?? now
    return .seconds(Int(max(0, min(Double(secondsMax), Double(end) - start.timeIntervalSince1970))))
  }

  /// The seconds after an answer during which nobody need ask again; nil when nothing was promised.
  ///
  /// - Parameters:
  ///   - timeToLive: What the document says of itself, in seconds.
  ///   - isOwn: It is homefeed/1, whose server is ours: it may be asked more often.
  static func lifetime(_ promise: Promise, timeToLive: Int64?, isOwn: Bool) -> Int64? {
    var seconds = timeToLive ?? 0
    if case .seconds(let promised) = promise { seconds = max(seconds, Int64(promised)) }
    guard seconds > 0 else { return nil }
    return min(max(seconds, isOwn ? Limits.ownFreshMin : Limits.freshMin), Limits.freshMax)
  }

  /// The directives of all `Cache-Control` headers, names in lower case.
  private static func directives(of response: HTTPResponse) -> [(name: String, value: String)] {
    response.headers.filter { $0.name.lowercased() == "cache-control" }
      .flatMap { split($0.value) }
      .map { directive in
        let parts = directive.split(separator: "=", maxSplits: 1).map {
          $0.trimmingCharacters(in: .whitespaces)
        }
        let value = parts.count == 2 ? parts[1] : ""
        return (parts.first?.lowercased() ?? "", value.trimmingCharacters(in: ["\""]))
      }
  }

  /// At the commas that are not in a quoted string.
  private static func split(_ text: String) -> [Substring] {
    var isQuoted = false
    return text.split { character in
      if character == "\"" { isQuoted.toggle() }
      return character == "," && !isQuoted
    }
  }

  /// RFC 9111, section 1.2.2: a number beyond what can be held is "very long".
  private static func seconds(_ text: String) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return min(Int(text) ?? secondsMax, secondsMax)
  }

  private static let secondsMax = 1 << 31
}
