/// The address at which a server listens.
package enum WebAddress: Hashable, Sendable, CustomStringConvertible {
  /// A socket in the file system, which only its user can open.
  case unix(path: String)
  /// A host name or a numeric address of this machine, and a port; 0 takes any free one.
  case tcp(host: String, port: UInt16)

  /// The host as in a URL: an IPv6 address is in brackets. Nil for a path.
  var urlHost: String? {
    guard case .tcp(let host, _) = self else { return nil }
    return host.contains(":") ? "[\(host)]" : host
  }

  /// The path, or `host:port`.
  package var description: String {
    switch self {
    case .unix(let path): path
    case .tcp(_, let port): "\(urlHost ?? ""):\(port)"
    }
  }
}

/// The `Host` of a request: a name, and a port unless it is that of the protocol.
struct WebHost: Equatable, Sendable {
  let name: String
  let port: UInt16?

  /// Reads `name`, `name:port` or `[address]:port`. Upper case becomes lower case.
  ///
  /// - Returns: Nil for anything else.
  init?(_ text: String) {
    let text = text.lowercased()
    let end = text.hasPrefix("[") ? text.lastIndex(of: "]").map(text.index(after:)) : nil
    let nameEnd = end ?? text.firstIndex(of: ":") ?? text.endIndex
    name = String(text[..<nameEnd])
    let rest = text[nameEnd...]
    port = rest.isEmpty ? nil : UInt16(rest.dropFirst())
    guard !name.isEmpty, rest.isEmpty || (rest.hasPrefix(":") && port != nil) else { return nil }
  }
}
