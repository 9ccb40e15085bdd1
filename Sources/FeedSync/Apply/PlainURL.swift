import Glibc

/// URLs that `URL` would accept and keep as they are written, as most of a feed's are. To compare
/// bytes takes a fraction of the time of Foundation's parser.
enum PlainURL {
  /// Returns true for an address on the web that has a host name, no port, and after the host only
  /// characters that need no escape (RFC 3986, sections 2.2, 2.3 and 3.3).
  ///
  /// - Returns: False also for other valid URLs.
  static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let start = hostStart(text) else { return false }
    var place = start
    while place < text.count, isOfHost(text[place]) { place += 1 }
    guard place > start, text[start] != UInt8(ascii: "-"), text[start] != UInt8(ascii: ".")
    else { return false }
    if place == text.count { return true }
    guard text[place] == UInt8(ascii: "/") else { return false }
    var hasQuery = false
    while place < text.count {
      let byte = text[place]
      place += 1
      if isOfPath(byte) { continue }
      guard byte == UInt8(ascii: "?"), !hasQuery else { return false }
      hasQuery = true
    }
    return true
  }

  private static func hostStart(_ text: UnsafeRawBufferPointer) -> Int? {
    hasPrefix("https://", text) ? 8 : hasPrefix("http://", text) ? 7 : nil
  }

  private static func hasPrefix(_ scheme: StaticString, _ text: UnsafeRawBufferPointer) -> Bool {
    let count = scheme.utf8CodeUnitCount
    guard text.count > count, let start = text.baseAddress else { return false }
    // SAFETY: both have the compared number of bytes.
    return memcmp(start, scheme.utf8Start, count) == 0
  }

  private static func isOfHost(_ byte: UInt8) -> Bool {
    isLowercase(byte) || isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }

  private static func isOfPath(_ byte: UInt8) -> Bool {
    if isLowercase(byte | 0x20) || isDigit(byte) { return true }
    return switch Unicode.Scalar(byte) {
    case "-", ".", "_", "~", "/", "=", "&", "+", ":", ",", ";", "@": true
    default: false
    }
  }

  private static func isLowercase(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
