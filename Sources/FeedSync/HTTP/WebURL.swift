import CMooringCurl

/// An absolute http or https URL, read by libcurl's own parser, so that the host that the rules
/// look at is the host that is asked.
struct WebURL: Sendable, Equatable {
  /// What secrets are bound to.
  struct Origin: Sendable, Hashable {
    let scheme: String
    let host: String
    let port: String
  }

  struct Credentials: Sendable, Equatable {
    let user: String
    let password: String
  }

  /// The URL without user, password and fragment.
  let text: String
  let origin: Origin
  /// As errors and logs show it.
  var shown: String { shownURL(text) }
  /// The user and password that the URL named, decoded.
  let credentials: Credentials?

  init(_ text: String) throws {
    guard let handle = curl_url() else { throw HTTPError(.other, "out of memory") }
    defer { curl_url_cleanup(handle) }
    try check(curl_url_set(handle, CURLUPART_URL, text, 0), for: text)

    let scheme = try part(CURLUPART_SCHEME, of: handle, for: text) ?? ""
    guard scheme == "http" || scheme == "https" else {
      throw HTTPError(.unsupportedProtocol, shownURL(text))
    }
    let decode = UInt32(CURLU_URLDECODE)
    let user = try part(CURLUPART_USER, of: handle, flags: decode, for: text)
    let password = try part(CURLUPART_PASSWORD, of: handle, flags: decode, for: text)
    credentials =
      user == nil && password == nil
      ? nil : Credentials(user: user ?? "", password: password ?? "")
    origin = Origin(
      scheme: scheme,
      host: try part(CURLUPART_HOST, of: handle, for: text)?.lowercased() ?? "",
      port: try part(CURLUPART_PORT, of: handle, flags: UInt32(CURLU_DEFAULT_PORT), for: text)
        ?? "")
    for secret in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_FRAGMENT] {
      try check(curl_url_set(handle, secret, nil, 0), for: text)
    }
    self.text = try part(CURLUPART_URL, of: handle, for: text) ?? ""
  }
}

/// The part, or nil when the URL has none.
private func part(
  _ part: CURLUPart, of handle: OpaquePointer, flags: UInt32 = 0, for text: String
) throws -> String? {
  var value: UnsafeMutablePointer<CChar>?
  let code = curl_url_get(handle, part, &value, flags)
  switch code {
  case CURLUE_NO_SCHEME, CURLUE_NO_USER, CURLUE_NO_PASSWORD, CURLUE_NO_PORT: return nil
  default: try check(code, for: text)
  }
  // SAFETY: libcurl returned success, so `value` is a NUL-terminated string that is ours to free.
  defer { curl_free(value) }
  return value.map { String(cString: $0) }
}

private func check(_ code: CURLUcode, for text: String) throws {
  guard code != CURLUE_OK else { return }
  let reason = String(cString: curl_url_strerror(code))
  throw HTTPError(
    code == CURLUE_UNSUPPORTED_SCHEME ? .unsupportedProtocol : .invalidURL,
    "\(shownURL(text)): \(reason)")
}
