import CMooringCurl
import Foundation

/// An absolute http or https URL, parsed by libcurl, so that the host that is checked is the host
/// that is connected to.
package struct WebURL: Sendable, Equatable {
  /// The scheme, host and port. Secrets are sent to one origin only.
  package struct Origin: Sendable, Hashable {
    package let scheme: String
    /// The host in lower case.
    package let host: String
    package let port: String
  }

  package struct Credentials: Sendable, Equatable {
    package let user: String
    package let password: String
  }

  /// The URL without user, password and fragment.
  package let text: String
  package let origin: Origin
  /// The user and password in the URL, decoded.
  package let credentials: Credentials?
  /// The URL as errors and logs show it.
  var shown: String { shownURL(text) }

  /// - Throws: `invalidURL`, `unsupportedProtocol` or `libraryMissing`.
  package init(_ text: String) throws {
    let url = try ParsedURL(text)
    let scheme = try url.part(CURLUPART_SCHEME) ?? ""
    guard scheme == "http" || scheme == "https" else {
      throw HTTPError(.unsupportedProtocol, shownURL(text))
    }
    let decode = UInt32(CURLU_URLDECODE)
    let user = try url.part(CURLUPART_USER, flags: decode)
    let password = try url.part(CURLUPART_PASSWORD, flags: decode)
    credentials =
      user == nil && password == nil
      ? nil : Credentials(user: user ?? "", password: password ?? "")
    origin = Origin(
      scheme: scheme,
      host: try url.part(CURLUPART_HOST)?.lowercased() ?? "",
      port: try url.part(CURLUPART_PORT, flags: UInt32(CURLU_DEFAULT_PORT)) ?? "")
    for secret in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_FRAGMENT] {
      try url.remove(secret)
    }
    self.text = try url.part(CURLUPART_URL) ?? ""
  }

  /// The URL, or nil if the text is none.
  private static func parse(_ text: String) -> WebURL? {
    do { return try WebURL(text) } catch { return nil }
  }

  /// Returns true if the texts are the same URL to the transport.
  package static func isSame(_ url: String, _ other: String) -> Bool {
    url == other || parse(url).map { $0.text == parse(other)?.text } ?? false
  }

  /// Returns true if the URLs have the same origin; false if one of them is no URL.
  package static func isSameOrigin(_ url: String, _ other: String) -> Bool {
    parse(url).map { $0.origin == parse(other)?.origin } ?? false
  }

  /// Returns true if the URL has a user or a password.
  package static func hasCredentials(_ url: String) -> Bool { parse(url)?.credentials != nil }

  /// Returns the host of the URL in lower case; nil if the text is no URL.
  package static func host(of url: String) -> String? { parse(url)?.origin.host }
}

/// A URL that libcurl has parsed.
private final class ParsedURL {
  private let curl: LibCurl
  private let handle: OpaquePointer
  private let text: String

  init(_ text: String) throws {
    curl = try LibCurl.loaded()
    guard let handle = curl.call.pointee.curl_url() else {
      throw HTTPError(.other, "out of memory")
    }
    self.handle = handle
    self.text = text
    try check(curl.call.pointee.curl_url_set(handle, CURLUPART_URL, text, 0))
  }

  deinit { curl.call.pointee.curl_url_cleanup(handle) }

  /// Returns a part of the URL; nil if the URL has none.
  func part(_ part: CURLUPart, flags: UInt32 = 0) throws -> String? {
    var value: UnsafeMutablePointer<CChar>?
    let code = curl.call.pointee.curl_url_get(handle, part, &value, flags)
    switch code {
    case CURLUE_NO_SCHEME, CURLUE_NO_USER, CURLUE_NO_PASSWORD, CURLUE_NO_PORT: return nil
    default: try check(code)
    }
    // SAFETY: libcurl returned success, so `value` is a NUL-terminated string that is ours to free.
    defer { curl.call.pointee.curl_free(value) }
    return value.map { String(cString: $0) }
  }

  func remove(_ part: CURLUPart) throws {
    try check(curl.call.pointee.curl_url_set(handle, part, nil, 0))
  }

  private func check(_ code: CURLUcode) throws {
    guard code != CURLUE_OK else { return }
    let reason = LibCurl.text(curl.call.pointee.curl_url_strerror(code))
    throw HTTPError(
      code == CURLUE_UNSUPPORTED_SCHEME ? .unsupportedProtocol : .invalidURL,
      "\(shownURL(text)): \(reason)")
  }
}

/// Returns the URL as errors, reports and logs show it: without user and password, and without the
/// values of query items whose names mark them as secrets.
package func shownURL(_ url: String) -> String {
  let text = withoutCredentials(url)
  guard let start = text.firstIndex(of: "?") else { return text }
  let end = text[start...].firstIndex(of: "#") ?? text.endIndex
  let parts = text[text.index(after: start)..<end].split(
    separator: "&", omittingEmptySubsequences: false)
  let shown = parts.map { part -> String in
    guard let equals = part.firstIndex(of: "="), isSecretName(part[..<equals]) else {
      return String(part)
    }
    return part[...equals] + "…"
  }
  return text[...start] + shown.joined(separator: "&") + text[end...]
}

/// Returns true for names such as `api_key`, `subscription-key`, `access_token` and
/// `X-Amz-Signature`.
private func isSecretName(_ name: Substring) -> Bool {
  let name = (name.removingPercentEncoding ?? String(name)).lowercased()
  if ["auth", "sig", "code", "pass", "pwd"].contains(name) { return true }
  if name.hasSuffix("key") { return true }
  return ["token", "secret", "password", "signature", "credential"]
    .contains { name.contains($0) }
}

/// Removes the text between `//` and `@`, also from a text that is no valid URL.
private func withoutCredentials(_ text: String) -> String {
  guard let slashes = text.firstRange(of: "//") else { return text }
  let authority = text[slashes.upperBound...].prefix { !"/?#".contains($0) }
  guard let at = authority.lastIndex(of: "@") else { return text }
  return String(text[..<slashes.upperBound] + text[text.index(after: at)...])
}
