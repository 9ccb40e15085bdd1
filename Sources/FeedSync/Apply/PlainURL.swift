/// URLs that `URL` would accept and keep as they are written, as most of a feed's are. To compare
/// bytes takes a fraction of the time of Foundation's parser.
enum PlainURL {
  /// Returns true for an address on the web that has a host name, no port, and after the host only
  /// characters that need no escape (RFC 3986, sections 2.2, 2.3 and 3.3).
  ///
  /// - Returns: False also for other valid URLs.
  static func isPlain(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      guard let start = hostStart(bytes) else { return false }
      var place = start
      while place < bytes.count, isOfHost(bytes[place]) { place += 1 }
      guard place > start, bytes[start] != UInt8(ascii: "-"), bytes[start] != UInt8(ascii: ".")
      else { return false }
      if place == bytes.count { return true }
      guard bytes[place] == UInt8(ascii: "/") else { return false }
      var hasQuery = false
      for byte in bytes[place...] where !isOfPath(byte) {
        guard byte == UInt8(ascii: "?"), !hasQuery else { return false }
        hasQuery = true
      }
      return true
    }
  }

  private static func hostStart(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    for scheme in ["https://", "http://"] as [StaticString]
    where bytes.count > scheme.utf8CodeUnitCount
      && zip(bytes, UnsafeBufferPointer(start: scheme.utf8Start, count: scheme.utf8CodeUnitCount))
        .allSatisfy({ $0 == $1 })
    {
      return scheme.utf8CodeUnitCount
    }
    return nil
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
