/// The encoding of names and values in queries and forms (WHATWG URL, 5), and of paths.
package enum FormText {
  /// Decodes `name=value&name=value`. An item without `=` has an empty value.
  static func fields(_ text: some Collection<UInt8>) throws(Refusal) -> [WebRequest.Field] {
    var fields: [WebRequest.Field] = []
    for item in text.split(separator: UInt8(ascii: "&")) {
      let parts = item.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count == 2 ? try decoded(parts[1], plusIsSpace: true) : ""
      fields.append((try decoded(parts[0], plusIsSpace: true), value))
    }
    return fields
  }

  /// Decodes percent escapes.
  ///
  /// - Throws: A refusal of an incomplete escape, of a zero byte and of what is not UTF-8.
  static func decoded(
    _ text: some Collection<UInt8>, plusIsSpace: Bool
  ) throws(Refusal) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else {
          throw Refusal(400, "a % in the address or the form is not followed by two digits")
        }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    guard !bytes.contains(0), let decoded = String(validating: bytes, as: UTF8.self) else {
      throw Refusal(400, "the address or the form is not valid UTF-8")
    }
    return decoded
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// Encodes a path or, with its items, a path and a query.
  package static func target(path: String, query: [WebRequest.Field] = []) -> String {
    let items = query.map { "\(encoded($0.name))=\(encoded($0.value))" }
    let path = encoded(path, keeping: "/")
    return items.isEmpty ? path : "\(path)?\(items.joined(separator: "&"))"
  }

  /// Encodes all bytes but those of letters, digits and `-._~`.
  package static func encoded(_ text: String, keeping kept: String = "") -> String {
    let plain = Set("-._~\(kept)".utf8)
    var encoded = ""
    for byte in text.utf8 {
      let character = Unicode.Scalar(byte)
      let isAlphanumeric =
        ("a"..."z").contains(character) || ("A"..."Z").contains(character)
        || ("0"..."9").contains(character)
      if isAlphanumeric || plain.contains(byte) {
        encoded.unicodeScalars.append(character)
      } else {
        encoded += byte < 16 ? "%0" : "%"
        encoded += String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
  }
}
