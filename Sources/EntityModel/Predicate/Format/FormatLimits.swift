/// The bounds of a format string. Each stops a hostile text; none is near what people write.
enum FormatLimits {
  static let bytesMax = 1 << 20
  /// Open parentheses and braces, and levels of the tree. What walks a tree (printing, comparing,
  /// destroying) does so by recursion, so this bounds the stack.
  static let nestingMax = 200
  /// Parts of the tree.
  static let nodesMax = 100_000
}
