/// The Link header of HTTP (RFC 8288, section 3).
package enum LinkHeader {
  /// Bytes of all values together that are examined.
  private static let lengthMax = 16_384

  /// Returns the target of the first link with that relation, as it is written; nil if there is
  /// none.
  package static func target(of relation: String, in values: [String]) -> String? {
    var budget = lengthMax
    for value in values {
      var scanner = LinkScanner(value.utf8.prefix(budget))
      budget -= min(budget, value.utf8.count)
      while let link = scanner.next() {
        if link.relations.contains(relation.lowercased()) { return link.target }
      }
    }
    return nil
  }
}

/// Reads the links of a value and skips anything else.
private struct LinkScanner {
  struct Link {
    var target: String
    /// The relation types, in lower case.
    var relations: [String] = []
  }

  private var rest: ArraySlice<UInt8>

  init(_ value: some Collection<UInt8>) { rest = Array(value)[...] }

  mutating func next() -> Link? {
    skip { $0 != UInt8(ascii: "<") }
    guard take("<") else { return nil }
    let target = taken { $0 != UInt8(ascii: ">") }
    guard take(">") else { return nil }
    var link = Link(target: text(target))
    var hasRelation = false
    while true {
      skip(isSpace)
      guard take(";") else { break }
      skip(isSpace)
      let name = text(taken { !isSpace($0) && !"=;,".utf8.contains($0) }).lowercased()
      skip(isSpace)
      guard take("=") else { continue }
      skip(isSpace)
      let value = take("\"") ? quoted() : taken { !isSpace($0) && !";,".utf8.contains($0) }
      // If a link has several relations, the first one wins.
      if name == "rel", !hasRelation {
        hasRelation = true
        link.relations = text(value).lowercased().split(separator: " ").map(String.init)
      }
    }
    skip { $0 != UInt8(ascii: ",") }
    return link
  }

  private mutating func quoted() -> [UInt8] {
    var bytes: [UInt8] = []
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
      if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
        bytes.append(escaped)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func taken(_ condition: (UInt8) -> Bool) -> [UInt8] {
    let part = rest.prefix(while: condition)
    rest = rest[part.endIndex...]
    return Array(part)
  }

  private mutating func skip(_ condition: (UInt8) -> Bool) { rest = rest.drop(while: condition) }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
