import FeedDocuments
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
    "since=" + URLQuery.encoded(checkpoint)
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
}
