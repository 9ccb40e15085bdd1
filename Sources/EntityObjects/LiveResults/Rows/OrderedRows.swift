import EntityStore

/// A row that knows its place in an order. No two rows of a list have the same key.
protocol OrderedRow: Sendable {
  associatedtype Key: Comparable & Sendable
  var key: Key { get }
}

/// Rows in the order of their keys, with their ranks. A value whose versions share what is equal:
/// see `RankedRows`.
struct OrderedRows<Row: OrderedRow>: Sendable {
  private(set) var ranked: RankedRows<Row>

  init() { ranked = RankedRows() }

  /// Takes rows whose keys ascend. O(n).
  init(ascending rows: some Collection<Row>) { ranked = RankedRows(rows) }

  /// Takes rows whose keys ascend. O(1).
  init(ascending ranked: RankedRows<Row>) { self.ranked = ranked }

  var count: Int { ranked.count }

  /// The row that `rank` others precede. O(log n).
  subscript(rank: Int) -> Row { ranked[rank] }

  /// The rows at `ranks`, in order. O(log n) for the first, then O(1) for most.
  func rows(at ranks: Range<Int>) -> RankedRows<Row>.Run { ranked.elements(at: ranks) }

  /// How many rows precede the key, whether or not it is there. O(log n).
  func rank(of key: Row.Key) -> Int { ranked.firstRank { $0.key >= key } }

  /// The rank of the row with this key; `nil` if there is none. O(log n).
  func rankIfPresent(of key: Row.Key) -> Int? {
    let rank = rank(of: key)
    return rank < count && ranked[rank].key == key ? rank : nil
  }

  /// Puts a row in its place, instead of the one with the same key if there is one. O(log n).
  ///
  /// - Returns: the row that was there.
  @discardableResult
  mutating func insert(_ row: Row) -> Row? {
    let rank = rank(of: row.key)
    guard rank < count else { ranked.insert(row, at: rank); return nil }
    let present = ranked[rank]
    guard present.key == row.key else { ranked.insert(row, at: rank); return nil }
    ranked.replace(at: rank, with: row)
    return present
  }

  /// Takes the row with this key out. O(log n).
  ///
  /// - Returns: the row; `nil` if there was none.
  @discardableResult
  mutating func remove(_ key: Row.Key) -> Row? {
    rankIfPresent(of: key).map { ranked.remove(at: $0) }
  }
}

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
