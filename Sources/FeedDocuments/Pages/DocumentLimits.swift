/// The bounds of reading a page of a feed, each with its reason.
package enum DocumentLimits {
  /// Bytes of one item's values. A record may be larger, but one commit should not hold many such
  /// records.
  package static let itemBytesMax = 4 << 20
  /// Bytes of the unknown members that are kept with an item.
  static let extraBytesMax = 16 << 10
  /// Rejected items that are listed one by one; any further ones are only counted.
  package static let rejectionsListedMax = 20
}
