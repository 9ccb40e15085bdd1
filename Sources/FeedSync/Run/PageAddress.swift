import HTTPClient

/// The URLs of a feed's pages.
enum PageAddress {
  /// - Returns: The feed's URL with the checkpoint in its query, encoded so that nothing of it is
  ///   syntax.
  static func delta(of url: String, since checkpoint: String) -> String {
    let base = url.prefix { $0 != "#" }
    return base + (base.contains("?") ? "&" : "?") + sinceParameter(checkpoint)
  }

  /// The URL without what ``delta(of:since:)`` adds to it.
  static func withoutDelta(_ url: String, since checkpoint: String?) -> String {
    guard let parameter = checkpoint.map(sinceParameter), url.hasSuffix(parameter) else {
      return url
    }
    return String(url.dropLast(parameter.count + 1))
  }

  private static func sinceParameter(_ checkpoint: String) -> String {
    "since=" + encoded(checkpoint)
  }

  /// - Returns: The URL with that value of a parameter of its query, in place of any that it had.
  static func setting(_ parameter: String, to value: String, in url: String) -> String {
    let base = url.prefix { $0 != "#" }
    let name = encoded(parameter)
    let path = base.prefix { $0 != "?" }
    let kept = base.dropFirst(path.count + 1).split(separator: "&").filter { part in
      let written = part.prefix { $0 != "=" }
      return written != name && written != parameter
    }
    return path + "?"
      + (kept.map(String.init) + ["\(name)=\(encoded(value))"]).joined(separator: "&")
  }

  /// So that nothing of it is syntax.
  private static func encoded(_ text: String) -> String {
    text.utf8.map { byte in
      isUnreserved(byte) ? String(UnicodeScalar(byte)) : "%" + hexadecimal(byte)
    }.joined()
  }

  /// The next page is on the origin of this one: a feed cannot send its reader elsewhere.
  ///
  /// - Throws: `foreignPage`.
  static func resolve(_ next: String, from base: String) throws -> String {
    let url = URLReference.resolve(next, base: base)
    guard WebURL.isSameOrigin(url, base), !WebURL.hasCredentials(url) else {
      throw SyncError(
        .foreignPage, "the feed's next page is on another server",
        [("page", shownURL(base)), ("next", String(shownURL(next).prefix(200)))],
        advice: "add the other URL as a feed of its own if it is meant", endsListing: true)
    }
    return url
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
