/// Finds where a feed in XML begins, in a text that may begin with something else.
///
/// Names are enough: the text before is neither well-formed nor of a known kind.
enum FeedRootTag {
  /// Returns the offset of a start tag that a feed can begin with: `rss`, `feed` or `RDF`, with any
  /// prefix. It is the first one that begins a document, or else the first one: a warning may
  /// mention such a tag. O(length).
  static func offset(in bytes: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
    var offset = start
    var first: Int?
    while offset < bytes.count {
      if bytes[offset] == Ascii.less, isFeed(nameAt: offset + 1, bytes) {
        if beginsDocument(at: offset, bytes) { return offset }
        first = first ?? offset
      }
      offset += 1
    }
    return first
  }

  /// Returns true for a tag after `?>`, with a version or a namespace, or before another tag.
  private static func beginsDocument(at start: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
    let before = bytes[..<start].suffix(64).reversed().drop(while: Ascii.isSpace)
    if before.starts(with: ">?".utf8) { return true }
    let tag = bytes[start...].prefix(1_024).prefix { $0 != Ascii.greater }
    let text = String(decoding: tag, as: UTF8.self)
    if text.contains("version=") || text.contains("xmlns") { return true }
    let rest = bytes[tag.endIndex...].dropFirst().prefix(64).drop(while: Ascii.isSpace)
    return ["<channel", "<title", "<id", "<link", "<entry"].contains { rest.starts(with: $0.utf8) }
  }

  private static func isFeed(nameAt start: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
    let name = bytes[min(start, bytes.count)...].prefix(64).prefix(while: Ascii.continuesName)
    guard name.endIndex < bytes.count,
      Ascii.isSpace(bytes[name.endIndex]) || bytes[name.endIndex] == Ascii.greater
    else { return false }
    switch String(decoding: name, as: UTF8.self).split(separator: ":").last?.lowercased() {
    case "rss", "feed", "rdf": return true
    default: return false
    }
  }
}
