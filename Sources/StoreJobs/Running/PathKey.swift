import EntityStore

enum PathKey {
  /// A unique key for a path of any length.
  static func of(_ path: String) -> String {
    guard path.utf8.count > Limits.keyBytesMax else { return path }
    return "hash " + String(UInt64(bitPattern: ContentHash.of(path)), radix: 16)
  }
}
