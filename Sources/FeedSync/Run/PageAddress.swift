import FeedDocuments
import Foundation

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
    guard let url = URL(string: next, relativeTo: URL(string: base))?.absoluteString,
      isSameOrigin(url, base), !namesUser(url)
    else {
      throw SyncError(
        .foreignPage, "the feed's next page is on another server",
        [("page", shownURL(base)), ("next", String(shownURL(next).prefix(200)))],
        advice: "add the other URL as a feed of its own if it is meant", endsListing: true)
    }
    return url
  }

  /// Whether what may be sent to one URL may be sent to the other.
  static func isSameOrigin(_ url: String, _ other: String) -> Bool {
    do {
      return try WebURL(url).origin == WebURL(other).origin
    } catch {
      return false  // What is no URL is never asked.
    }
  }

  /// The host that is asked for the URL, in lower case; nil for what is no URL.
  static func host(of url: String) -> String? {
    do {
      return try WebURL(url).origin.host
    } catch {
      return nil
    }
  }

  private static func namesUser(_ url: String) -> Bool {
    do {
      return try WebURL(url).credentials != nil
    } catch {
      return false
    }
  }
}
