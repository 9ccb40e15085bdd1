/// Counts how many texts of a column, or of a member of a document, have a certain form.
package struct TextShapes: Sendable {
  package private(set) var empty = 0
  package private(set) var longestBytes = 0
  package private(set) var iso8601 = 0
  package private(set) var rfc822 = 0
  /// The dates among them that have no offset from UTC.
  package private(set) var withoutZone = 0
  package private(set) var numbers = 0
  /// The texts `true` and `false`, in this spelling.
  package private(set) var booleans = 0
  package private(set) var uuids = 0
  package private(set) var urls = 0

  package init() {}

  package mutating func add(_ text: String) {
    let bytes = text.utf8.count
    longestBytes = max(longestBytes, bytes)
    guard let first = text.utf8.first else {
      empty += 1
      return
    }
    if text == "true" || text == "false" { booleans += 1 }
    if bytes == 36, Self.isUUID(text) { uuids += 1 }
    if text.hasPrefix("http://") || text.hasPrefix("https://") { urls += 1 }
    // No date is longer. The texts of a column of articles would take too long to examine.
    guard bytes <= 64 else { return }
    let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
    if Int64(text) != nil { numbers += 1 }
    if isDigit, bytes >= 10, DateText.iso8601(text, zoneMinutes: 0) != nil {
      iso8601 += 1
      if DateText.iso8601(text, zoneMinutes: nil) == nil { withoutZone += 1 }
    } else if bytes >= 12, DateText.rfc822(text, zoneMinutes: 0) != nil {
      rfc822 += 1
      if DateText.rfc822(text, zoneMinutes: nil) == nil { withoutZone += 1 }
    }
  }

  private static func isUUID(_ text: String) -> Bool {
    text.utf8.enumerated().allSatisfy { place, byte in
      [8, 13, 18, 23].contains(place)
        ? byte == UInt8(ascii: "-")
        : (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
  }
}
