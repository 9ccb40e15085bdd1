public import EntityModel

/// A row of live results: what was fetched, with its identity and its section.
public struct LiveRow<T: Sendable>: Sendable, Identifiable {
  public let id: ObjectID
  /// The value of the attribute by which the results are divided; null where they are not.
  public let section: Value
  public let value: T
  /// Its place in the order.
  let key: RowKey
  /// Differs, but for a chance of 1 in 2⁶⁴, where the content does. Only a refetch looks at it.
  let contentHash: Int64

  init(id: ObjectID, section: Value, value: T, key: RowKey, contentHash: Int64) {
    self.id = id
    self.section = section
    self.value = value
    self.key = key
    self.contentHash = contentHash
  }
}

extension LiveRow: Equatable where T: Equatable {}

extension LiveRow: ResultsRow {
  var identity: Int64 { key.id }
}

/// What the difference of two versions needs to know of a row.
protocol ResultsRow: OrderedRow {
  /// The same in all versions, while the key may change.
  var identity: Int64 { get }
  /// Rows of equal sections must stand together in the order.
  var section: Value { get }
  var contentHash: Int64 { get }
}
