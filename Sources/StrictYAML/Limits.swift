/// The bounds of a document. Each stops a hostile file; none is near what a real one needs.
enum Limits {
  /// The text, without a byte order mark. A migration or mapping file has a few kilobytes.
  static let documentBytesMax = 4 * 1024 * 1024
  /// Collections inside collections. Trees are built and walked by recursion, so this bounds the
  /// stack as well.
  static let nestingMax = 64
}
