import Foundation

/// A URL as errors, records and logs show it: without user and password, and without the values of
/// query parts whose names say that they are secrets.
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

/// Names that APIs give to secrets: `api_key`, `subscription-key`, `access_token`, `X-Amz-Signature`, …
private func isSecretName(_ name: Substring) -> Bool {
  let name = (name.removingPercentEncoding ?? String(name)).lowercased()
  if ["auth", "sig", "code", "pass", "pwd"].contains(name) { return true }
  if name.hasSuffix("key") { return true }
  return ["token", "secret", "password", "signature", "credential"]
    .contains { name.contains($0) }
}

/// The text without what stands between `//` and `@`, for texts that no parser takes.
func withoutCredentials(_ text: String) -> String {
  guard let slashes = text.firstRange(of: "//") else { return text }
  let authority = text[slashes.upperBound...].prefix { !"/?#".contains($0) }
  guard let at = authority.lastIndex(of: "@") else { return text }
  return String(text[..<slashes.upperBound] + text[text.index(after: at)...])
}
