/// The URLs of feeds. Relative ones are resolved by RFC 3986 section 5. Absolute ones are kept byte
/// by byte, because they serve as ids, and so are characters that RFC 3986 does not allow, such as
/// spaces and letters beyond ASCII.
package enum URLReference {
  /// Returns the absolute URL; the reference itself, without the space around it, if it is absolute
  /// or if there is no base. O(length).
  package static func resolve(_ reference: String, base: String) -> String {
    resolve(reference, base: Base(base))
  }

  /// Returns the absolute URL for a base that has been parsed before.
  static func resolve(_ reference: String, base: Base) -> String {
    let reference = withoutSpace(reference)
    guard !base.text.isEmpty, scheme(of: reference) == nil else { return reference }
    let base = base.parts, relative = Parts(reference)
    if relative.authority != nil {
      return (base.scheme.map { $0 + ":" } ?? "") + reference
    }
    var target = base
    target.fragment = relative.fragment
    if relative.path.isEmpty {
      if relative.query != nil { target.query = relative.query }
    } else {
      target.query = relative.query
      target.path =
        relative.path.hasPrefix("/") ? relative.path : merged(relative.path, with: base)
      target.path = withoutDotSegments(target.path, isRooted: base.authority != nil)
    }
    return target.text
  }

  /// Returns the scheme, such as `http`; nil for a relative reference.
  static func scheme(of text: String) -> Substring? {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let scheme = text[..<colon]
    guard let first = scheme.utf8.first, Ascii.isLetter(first) else { return nil }
    let isScheme = scheme.utf8.allSatisfy {
      Ascii.isLetter($0) || Ascii.isDigit($0) || $0 == UInt8(ascii: "+")
        || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
    }
    return isScheme ? scheme : nil
  }

  /// Returns true for a URL of the scheme http or https.
  static func isWeb(_ text: String) -> Bool {
    let scheme = scheme(of: text)?.lowercased()
    return scheme == "http" || scheme == "https"
  }

  /// Removes the space around a URL and the line breaks in it, which editors add.
  private static func withoutSpace(_ text: String) -> String {
    let bytes = text.utf8
    guard bytes.contains(where: { $0 <= 0x20 }) else { return text }
    let inner = bytes.filter { $0 >= 0x20 }
    let start = inner.drop { $0 == 0x20 }
    let end = start.reversed().drop { $0 == 0x20 }
    return String(decoding: Array(end.reversed()), as: UTF8.self)
  }

  /// A base URL, parsed once for all the references that are resolved against it.
  struct Base {
    let text: String
    fileprivate let parts: Parts

    init(_ text: String) {
      self.text = text
      parts = Parts(text)
    }
  }

  // MARK: RFC 3986

  fileprivate struct Parts {
    var scheme: String?
    var authority: String?
    var path: String
    var query: String?
    var fragment: String?

    init(_ text: String) {
      var rest = text[...]
      scheme = URLReference.scheme(of: text).map(String.init)
      if let scheme { rest = Substring(rest.utf8.dropFirst(scheme.utf8.count + 1)) }
      if let hash = rest.utf8.firstIndex(of: UInt8(ascii: "#")) {
        fragment = String(rest[rest.index(after: hash)...])
        rest = rest[..<hash]
      }
      if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
        query = String(rest[rest.index(after: mark)...])
        rest = rest[..<mark]
      }
      if rest.hasPrefix("//") {
        rest = Substring(rest.utf8.dropFirst(2))
        let end = rest.utf8.firstIndex(of: Ascii.slash) ?? rest.endIndex
        authority = String(rest[..<end])
        rest = rest[end...]
      }
      path = String(rest)
    }

    var text: String {
      (scheme.map { $0 + ":" } ?? "") + (authority.map { "//" + $0 } ?? "") + path
        + (query.map { "?" + $0 } ?? "") + (fragment.map { "#" + $0 } ?? "")
    }
  }

  private static func merged(_ path: String, with base: Parts) -> String {
    guard let slash = base.path.utf8.lastIndex(of: Ascii.slash) else {
      return base.authority == nil ? path : "/" + path
    }
    return base.path[...slash] + path
  }

  private static func withoutDotSegments(_ path: String, isRooted: Bool) -> String {
    var segments: [Substring] = []
    let all = path.utf8.split(separator: Ascii.slash, omittingEmptySubsequences: false)
      .map(Substring.init)
    for (index, segment) in all.enumerated() {
      let isLast = index == all.count - 1
      switch segment {
      case ".": if isLast { segments.append("") }
      case "..":
        if segments.count > 1 || (!isRooted && segments.last.map { !$0.isEmpty } ?? false) {
          segments.removeLast()
        }
        if isLast { segments.append("") }
      default: segments.append(segment)
      }
    }
    return segments.joined(separator: "/")
  }
}
