package import Foundation

/// The time for which an answer stays fresh, by its headers (RFC 9111, section 4.2).
package enum Freshness {
  /// Returns the seconds after the answer within which it is fresh, 0 if each use needs a request;
  /// nil if the headers say nothing.
  ///
  /// Reads `max-age` less `Age`, else `Expires` less the answer's own `Date`. `no-store` and
  /// `no-cache` give 0, and so does a value that cannot be read, as the standard requires.
  ///
  /// - Parameter now: The time used in place of a missing `Date`.
  package static func promise(of response: HTTPResponse, now: Date) -> Int? {
    let control = response.headers(named: "Cache-Control").flatMap(directives)
    if control.contains(where: { $0.name == "no-store" || $0.name == "no-cache" }) {
      return 0
    }
    let ages = control.filter { $0.name == "max-age" }.map { seconds($0.value) ?? 0 }
    if let maxAge = ages.min() {
      let age = response.header("Age").flatMap(seconds) ?? 0
      return max(0, maxAge - age)
    }
    guard let expires = response.header("Expires") else { return nil }
    guard let end = unixSeconds(httpDate: expires) else { return 0 }
    let start = response.date ?? now
    return Int(max(0, min(Double(secondsMax), Double(end) - start.timeIntervalSince1970)))
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
