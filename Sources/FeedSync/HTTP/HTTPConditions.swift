/// The validators of an earlier answer, exactly as its server gave them, with the URL that gave it:
/// at another URL they would mean another document.
public struct HTTPConditions: Sendable, Equatable {
  /// The URL that gave the answer, as ``HTTPResponse/effectiveURL`` has it.
  public var url: String
  public var etag: String?
  public var lastModified: String?

  public init(url: String, etag: String? = nil, lastModified: String? = nil) {
    self.url = url
    self.etag = etag
    self.lastModified = lastModified
  }

  public var isEmpty: Bool { etag == nil && lastModified == nil }

  /// The request headers. A server that knows both kinds ignores the date (RFC 9110, 13.1.3).
  var headers: [(name: String, value: String)] {
    [("If-None-Match", etag), ("If-Modified-Since", lastModified)].compactMap { name, value in
      value.map { (name, $0) }
    }
  }

  /// Whether a request that ended at the URL carried the validators.
  func wereSent(to url: String) -> Bool {
    !isEmpty && Self.isSame(self.url, url)
  }

  /// Whether two texts are one URL to the transport.
  static func isSame(_ url: String, _ other: String) -> Bool {
    if url == other { return true }
    do {
      return try WebURL(url).text == WebURL(other).text
    } catch {
      return false  // What is no URL was never asked.
    }
  }
}
