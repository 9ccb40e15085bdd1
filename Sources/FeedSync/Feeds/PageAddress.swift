import FeedDocuments
import HTTPClient

/// The URLs of a feed's pages.
enum PageAddress {
  /// Returns the feed's URL with the checkpoint in its query, percent-encoded.
  static func delta(of url: String, since checkpoint: String) -> String {
    let base = url.prefix { $0 != "#" }
    return base + (base.contains("?") ? "&" : "?") + sinceParameter(checkpoint)
  }

  /// Removes the query item that ``delta(of:since:)`` adds.
  static func withoutDelta(_ url: String, since checkpoint: String?) -> String {
    guard let parameter = checkpoint.map(sinceParameter), url.hasSuffix(parameter) else {
      return url
    }
    return String(url.dropLast(parameter.count + 1))
  }

  private static func sinceParameter(_ checkpoint: String) -> String {
    "since=" + URLQuery.encoded(checkpoint)
  }

  /// Returns the absolute URL of the next page.
  ///
  /// - Throws: `foreignPage` if its origin is another than that of this page.
  static func resolve(_ next: String, from base: String) throws -> String {
    let url = escaped(URLReference.resolve(next, base: base))
    guard WebURL.isSameOrigin(url, base), !WebURL.hasCredentials(url) else {
      throw SyncError(
        .foreignPage, "the feed's next page is on another server",
        [("page", shownURL(base)), ("next", String(shownURL(next).prefix(200)))],
        advice: "add the other URL as a feed of its own if it is intended", endsListing: true)
    }
    return url
  }

  /// Percent-encodes the bytes that no URL may contain (RFC 3986, section 2). libcurl rejects a
  /// space.
  static func escaped(_ url: String) -> String {
    guard !url.utf8.allSatisfy(isAllowed) else { return url }
    return url.unicodeScalars.map { scalar in
      scalar.isASCII && isAllowed(UInt8(scalar.value))
        ? String(scalar) : URLQuery.encoded(String(scalar))
    }.joined()
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && !"\"<>\\^`{|}".utf8.contains(byte)
  }
}
