package import Foundation

/// The time for which an answer stays fresh, by its headers (RFC 9111, section 4.2).
package enum Freshness {
  package enum Promise: Equatable, Sendable {
    /// The headers say nothing.
    case none
    /// Fresh for so many seconds after the answer; 0 if each use needs a request.
    case seconds(Int)
  }

  /// Reads `max-age` less `Age`, else `Expires` less the answer's own `Date`. `no-store` and
  /// `no-cache` give 0, and so does a value that cannot be read, as the standard requires.
  ///
  /// - Parameter now: The time used in place of a missing `Date`.
  package static func promise(of response: HTTPResponse, now: Date) -> Promise {
    let control = response.headers(named: "Cache-Control").flatMap(directives)
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

  /// Returns the directives of a `Cache-Control` header, with names in lower case.
  private static func directives(_ header: String) -> [(name: String, value: String)] {
    split(header).map { directive in
      let parts = directive.split(separator: "=", maxSplits: 1).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      let value = parts.count == 2 ? parts[1] : ""
      return (parts.first?.lowercased() ?? "", value.trimmingCharacters(in: ["\""]))
    }
  }

  /// Splits at commas outside of quoted strings.
  private static func split(_ text: String) -> [Substring] {
    var isQuoted = false
    return text.split { character in
      if character == "\"" { isQuoted.toggle() }
      return character == "," && !isQuoted
    }
  }

  /// Parses seconds. A number too large to represent means "very long" (RFC 9111, section 1.2.2).
  private static func seconds(_ text: String) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return min(Int(text) ?? secondsMax, secondsMax)
  }

  private static let secondsMax = 1 << 31
}
