/// A key that was typed.
enum TopKey: Equatable {
  case character(Character)
  case up, down, pageUp, pageDown, home, end
  case enter, escape, backspace
  /// Ctrl-C, from a terminal that sends no signal for it.
  case interrupt
}

/// Makes keys of the bytes that a terminal sends.
struct TopKeyDecoder {
  private static let escapeByte: UInt8 = 0x1B
  /// The longest sequence that is waited for. A longer one is dropped.
  private static let sequenceBytesMax = 32

  /// The beginning of a sequence or of a character.
  private var pending: [UInt8] = []

  /// True if more bytes may follow at once: a lone escape is a key, and begins other keys.
  var isPending: Bool { !pending.isEmpty }

  /// Returns the keys that are complete after more bytes.
  mutating func decode(_ bytes: some Sequence<UInt8>) -> [TopKey] {
    pending.append(contentsOf: bytes)
    var keys: [TopKey] = []
    while let (key, count) = next() {
      pending.removeFirst(count)
      if let key { keys.append(key) }
    }
    return keys
  }

  /// Returns the key that the bytes so far are, when no others follow.
  mutating func flush() -> TopKey? {
    defer { pending = [] }
    return pending == [Self.escapeByte] ? .escape : nil
  }

  /// Returns the first key, with its bytes; no key for bytes that mean none; nil for too few bytes.
  private func next() -> (TopKey?, Int)? {
    guard let first = pending.first else { return nil }
    switch first {
    case Self.escapeByte: return sequence()
    case 0x0A, 0x0D: return (.enter, 1)
    case 0x08, 0x7F: return (.backspace, 1)
    case 0x03: return (.interrupt, 1)
    case 0x00..<0x20: return (nil, 1)
    default: return character(first)
    }
  }

  private func sequence() -> (TopKey?, Int)? {
    guard pending.count > 1 else { return nil }
    // Escape, then a key: both, rather than a key with Alt.
    guard pending[1] == UInt8(ascii: "[") || pending[1] == UInt8(ascii: "O") else {
      return (.escape, 1)
    }
    guard let end = pending[2...].firstIndex(where: { (0x40...0x7E).contains($0) }) else {
      return pending.count < Self.sequenceBytesMax ? nil : (nil, pending.count)
    }
    let parameter = pending[2..<end].prefix { $0 != UInt8(ascii: ";") }
    return (Self.key(pending[end], String(decoding: parameter, as: UTF8.self)), end + 1)
  }

  private static func key(_ last: UInt8, _ parameter: String) -> TopKey? {
    switch (Character(Unicode.Scalar(last)), parameter) {
    case ("A", _): .up
    case ("B", _): .down
    case ("H", _), ("~", "1"), ("~", "7"): .home
    case ("F", _), ("~", "4"), ("~", "8"): .end
    case ("~", "5"): .pageUp
    case ("~", "6"): .pageDown
    case ("M", _): .enter
    default: nil
    }
  }

  private func character(_ first: UInt8) -> (TopKey?, Int)? {
    let count =
      switch first {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 1
      }
    guard pending.count >= count else { return nil }
    guard let text = String(validating: pending.prefix(count), as: UTF8.self),
      let character = text.first
    else { return (nil, 1) }
    return (.character(character), count)
  }
}
