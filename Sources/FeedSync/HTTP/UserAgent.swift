import Foundation

/// What a publisher reads in its logs of who asks.
public enum UserAgent {
  /// - Parameter contact: A web or mail address that ``isContact(_:)`` takes; without one the
  ///   publisher can only block us.
  /// - Returns: `mooring/0.1 (+https://example.org/about)`, or the name alone.
  public static func text(contact: String? = nil) -> String {
    guard let contact else { return "mooring/0.1" }
    return "mooring/0.1 (+\(contact))"
  }

  /// Whether the text is an http, https or mailto URL that can stand in the header: of visible ASCII,
  /// without parentheses, which end a comment there, and of at most 200 bytes.
  public static func isContact(_ text: String) -> Bool {
    guard text.utf8.count <= 200,
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"()\\".utf8.contains($0) }),
      let url = URL(string: text), url.user == nil, let scheme = url.scheme?.lowercased()
    else { return false }
    return scheme == "mailto"
      ? text.contains("@")
      : scheme.hasPrefix("http") && url.host != nil
        && ["http", "https"].contains(scheme)
  }
}
