import EntityStore

/// A row with a key by which rows are ordered. No two rows of a list have the same key.
protocol OrderedRow: Sendable {
  associatedtype Key: Comparable & Sendable
  var key: Key { get }
}

/// Rows in the order of their keys, with their ranks. Copies share their equal parts: see
/// `RankedRows`.
struct OrderedRows<Row: OrderedRow>: Sendable {
  private(set) var ranked: RankedRows<Row>

  /// Creates a list from rows whose keys ascend. O(n).
  init(ascending rows: some Collection<Row>) { ranked = RankedRows(rows) }

  /// Creates a list from rows whose keys ascend. O(1).
  init(ascending ranked: RankedRows<Row>) { self.ranked = ranked }

  var count: Int { ranked.count }

  /// Returns the row with `rank` rows before it. O(log n).
  subscript(rank: Int) -> Row { ranked[rank] }

  /// Returns the rows at `ranks`, in order. O(log n) for the first, then O(1) for most.
  func rows(at ranks: Range<Int>) -> RankedRows<Row>.Run { ranked.elements(at: ranks) }

  /// Returns the number of rows before the key, which need not be present. O(log n).
  func rank(of key: Row.Key) -> Int { ranked.firstRank { $0.key >= key } }

  /// Returns the rank of the row with this key; `nil` if there is none. O(log n).
  func rankIfPresent(of key: Row.Key) -> Int? {
    let rank = rank(of: key)
    return rank < count && ranked[rank].key == key ? rank : nil
  }

  /// Inserts a row in its place, or replaces the one with the same key. O(log n).
  ///
  /// - Returns: The replaced row; `nil` if there was none.
  @discardableResult
  mutating func insert(_ row: Row) -> Row? {
    let rank = rank(of: row.key)
    guard rank < count else { ranked.insert(row, at: rank); return nil }
    let present = ranked[rank]
    guard present.key == row.key else { ranked.insert(row, at: rank); return nil }
    ranked.replace(at: rank, with: row)
    return present
  }

  /// Removes the row with this key. O(log n).
  ///
  /// - Returns: The removed row; `nil` if there was none.
  @discardableResult
  mutating func remove(_ key: Row.Key) -> Row? {
    rankIfPresent(of: key).map { ranked.remove(at: $0) }
  }
}

/// The place of a row in the order of its results: the bytes of its sort keys, compared as unsigned
/// bytes like an index key, then its record id. No two rows have the same place.
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
