/// The query of a URL as text, and the percent-encoding of what goes into it.
package enum URLQuery {
  /// Returns the URL with that value of a parameter, in place of any values that it had. The
  /// fragment is removed.
  package static func setting(_ parameter: String, to value: String, in url: String) -> String {
    let base = url.prefix { $0 != "#" }
    let name = encoded(parameter)
    let path = base.prefix { $0 != "?" }
    let others = base.dropFirst(path.count + 1).split(separator: "&").filter { part in
      let written = part.prefix { $0 != "=" }
      return written != name && written != parameter
    }
    return path + "?"
      + (others.map(String.init) + ["\(name)=\(encoded(value))"]).joined(separator: "&")
  }

  /// Returns the text with every byte percent-encoded that is not unreserved (RFC 3986, section
  /// 2.3), so that none of it is syntax.
  package static func encoded(_ text: String) -> String {
    var encoded: [UInt8] = []
    encoded.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      if Ascii.isLetter(byte) || Ascii.isDigit(byte) || "-._~".utf8.contains(byte) {
        encoded.append(byte)
      } else {
        encoded.append(contentsOf: percentEncoded(byte).utf8)
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  static func percentEncoded(_ byte: UInt8) -> String {
    "%" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }
}
