import Foundation

/// The URLs of a feed's pages.
enum PageAddress {
  /// - Returns: The feed's URL with the checkpoint in its query, encoded so that nothing of it is
  ///   syntax.
  static func delta(of url: String, since checkpoint: String) -> String {
    let base = url.prefix { $0 != "#" }
    let value = checkpoint.utf8.map { byte in
      isUnreserved(byte) ? String(UnicodeScalar(byte)) : "%" + hexadecimal(byte)
    }
    return base + (base.contains("?") ? "&" : "?") + "since=" + value.joined()
  }

  /// The next page is on the origin of this one: a feed cannot send its reader elsewhere.
  ///
  /// - Throws: `foreignPage`.
  static func resolve(_ next: String, from base: String) throws -> String {
    guard let page = URL(string: base), let url = URL(string: next, relativeTo: page)?.absoluteURL,
      isSameOrigin(url, page), url.user == nil, url.password == nil
    else {
      throw SyncError(
        .foreignPage, "the feed's next page is on another server",
        [("page", base), ("next", String(next.prefix(200)))],
        advice: "add the other URL as a feed of its own if it is meant", endsListing: true)
    }
    return url.absoluteString
  }

  /// Whether what may be sent to one URL may be sent to the other.
  static func isSameOrigin(_ url: String, _ other: String) -> Bool {
    guard let url = URL(string: url), let other = URL(string: other) else { return false }
    return isSameOrigin(url, other)
  }

  private static func isSameOrigin(_ url: URL, _ other: URL) -> Bool {
    url.scheme?.lowercased() == other.scheme?.lowercased()
      && url.host?.lowercased() == other.host?.lowercased() && port(of: url) == port(of: other)
  }

  private static func port(of url: URL) -> Int {
    url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
  }

  /// RFC 3986, section 2.3.
  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: "-._~".utf8.contains(byte)
    }
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    (byte < 0x10 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }
}
