import Foundation

/// The `User-Agent` header, by which a publisher can contact the operator.
public enum UserAgent {
  /// Returns the header's value.
  ///
  /// - Parameter contact: A web or mail address that ``isContact(_:)`` accepts. Without one a
  ///   publisher can only block the program.
  /// - Returns: `mooring/0.1 (+https://example.org/about)`, or the name alone.
  public static func text(contact: String? = nil) -> String {
    guard let contact else { return "mooring/0.1" }
    return "mooring/0.1 (+\(contact))"
  }

  /// Returns true for an http, https or mailto URL that is allowed in the header: at most 200 bytes
  /// of visible ASCII, without parentheses, which would end the comment.
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
