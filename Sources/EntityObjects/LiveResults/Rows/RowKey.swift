import EntityStore

/// The place of a row in the order of its results: the bytes of its sort keys, compared as unsigned
/// bytes as an index does, then its identity. No two rows have the same.
struct RowKey: Hashable, Comparable, Sendable {
  let bytes: [UInt8]
  let id: Int64

  static func < (left: RowKey, right: RowKey) -> Bool {
    let order = left.bytes.withUnsafeBytes { left in
      right.bytes.withUnsafeBytes { right in compare(left, right) }
    }
    return order == 0 ? left.id < right.id : order < 0
  }
}
