public import EntityModel
public import EntityStore
public import Foundation

/// Inserts items of a source of any length: memory is bounded by one chunk of them.
///
/// An item is the values of one record by attribute name, or a typed entity. What it does not name
/// gets its default; a to-one relationship that an attribute holds is named like one, and its value
/// is the other record's number.
public struct BatchInsertRequest: Sendable {
  /// What becomes of an item whose unique values a record has already.
  public enum Conflict: Hashable, Sendable {
    /// The item is refused.
    case fail
    /// It is left out.
    case skip
    /// The record that has the item's values in the unique index on exactly these attributes gets
    /// what the item names; all else of it stays. A clash in another index is refused.
    case update(by: [String])
  }

  /// What becomes of the batch when an item is refused.
  public enum ItemErrors: Hashable, Sendable {
    /// It stops with a `BatchItemError`. The items before stay; the same request goes on with that
    /// one.
    case stop
    /// It goes on, counts what was refused, and lists the first so many.
    case collect(max: Int)
  }

  public var entityName: String
  public var onConflict: Conflict
  public var itemErrors = ItemErrors.stop
  public var resultType: BatchResultType
  public var options: BatchRequestOptions
  /// Begins anew at each call: an interrupted batch passes over what it has taken already.
  let read: @Sendable (_ startedAt: Date) -> BatchReader

  public init<Items: Sequence & Sendable>(
    _ entityName: String, _ items: Items, onConflict: Conflict = .fail,
    resultType: BatchResultType = .count, options: BatchRequestOptions = BatchRequestOptions()
  ) where Items.Element == [String: Value] {
    self.init(entityName, onConflict, resultType, options) { _ in
      BatchReader(items) { BatchRow(.values($0)) }
    }
  }

  public init<Items: AsyncSequence & Sendable>(
    _ entityName: String, _ items: Items, onConflict: Conflict = .fail,
    resultType: BatchResultType = .count, options: BatchRequestOptions = BatchRequestOptions()
  ) where Items.Element == [String: Value] {
    self.init(entityName, onConflict, resultType, options) { _ in
      BatchReader(items) { BatchRow(.values($0)) }
    }
  }

  public init<Items: Sequence & Sendable>(
    _ items: Items, onConflict: Conflict = .fail, resultType: BatchResultType = .count,
    options: BatchRequestOptions = BatchRequestOptions()
  ) where Items.Element: Entity {
    self.init(Items.Element.entityName, onConflict, resultType, options) { _ in
      BatchReader(items, row: BatchRow.init(entity:))
    }
  }

  public init<Items: AsyncSequence & Sendable>(
    _ items: Items, onConflict: Conflict = .fail, resultType: BatchResultType = .count,
    options: BatchRequestOptions = BatchRequestOptions()
  ) where Items.Element: Entity {
    self.init(Items.Element.entityName, onConflict, resultType, options) { _ in
      BatchReader(items, row: BatchRow.init(entity:))
    }
  }

  /// Of elements that have yet to be read, such as the lines of a file.
  ///
  /// - Parameter read: Makes an item of an element. Its date is the time at which the batch began,
  ///   also after an interruption: of the same elements it must make the same items.
  public init<Source: AsyncSequence & Sendable>(
    _ entityName: String, from source: Source, onConflict: Conflict = .fail,
    resultType: BatchResultType = .count, options: BatchRequestOptions = BatchRequestOptions(),
    read: @escaping @Sendable (Source.Element, Date) -> BatchItem
  ) {
    self.init(entityName, onConflict, resultType, options) { startedAt in
      BatchReader(source) { BatchRow(read($0, startedAt)) }
    }
  }

  private init(
    _ entityName: String, _ onConflict: Conflict, _ resultType: BatchResultType,
    _ options: BatchRequestOptions, read: @escaping @Sendable (Date) -> BatchReader
  ) {
    self.entityName = entityName
    self.onConflict = onConflict
    self.resultType = resultType
    self.options = options
    self.read = read
  }

  /// What makes it the same request: the name of its write is a hash of this. Whether the items are
  /// the same, a hash of those taken tells.
  var identity: [String] {
    switch onConflict {
    case .fail: [entityName, options.identity, "fail"]
    case .skip: [entityName, options.identity, "skip"]
    case .update(let attributes): [entityName, options.identity, "update"] + attributes
    }
  }
}

/// One item of a batch insert.
public struct BatchItem: Sendable {
  /// The values by attribute, or why there are none: the item is then refused.
  public var values: Result<[String: Value], any Error>
  /// Where it comes from, such as a line of a file, for messages.
  public var place: String?

  public init(_ values: [String: Value], place: String? = nil) {
    self.values = .success(values)
    self.place = place
  }

  public init(failure: any Error, place: String? = nil) {
    values = .failure(failure)
    self.place = place
  }
}
