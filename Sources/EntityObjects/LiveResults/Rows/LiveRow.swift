public import EntityModel

/// A row of live results: the fetched value with its identity and its section.
public struct LiveRow<T: Sendable>: Sendable, Identifiable {
  public let id: ObjectID
  /// The value of the attribute by which the results are divided into sections; null without
  /// sections.
  public let section: Value
  public let value: T
  /// The place of the row in the order.
  let key: RowKey
  /// A hash of the content; different contents have the same one with a probability of 1 in 2⁶⁴.
  /// Only a refetch compares it.
  let contentHash: Int64
}

extension LiveRow: Equatable where T: Equatable {}

extension LiveRow: ResultsRow {
  var identity: Int64 { key.id }
}

/// A row whose versions can be compared.
protocol ResultsRow: OrderedRow {
  /// The number of the record. It stays the same in all versions, while the key may change.
  var identity: Int64 { get }
  /// The section of the row. Rows of the same section are neighbors in the order.
  var section: Value { get }
  var contentHash: Int64 { get }
}
