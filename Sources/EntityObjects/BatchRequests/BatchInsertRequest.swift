public import EntityModel
public import EntityStore
public import Foundation

/// Inserts the items of a source of any length. Memory is bounded by two chunks of items: one that
/// is written, and one that is read at the same time.
///
/// An item is the values of one record by attribute name, or a typed entity. Attributes that are
/// missing in an item get their defaults. A to-one relationship that is stored as a reference is
/// given by its name, with the number of the other record as the value.
public struct BatchInsertRequest: Sendable {
  /// The treatment of an item whose unique values belong to an existing record.
  public enum Conflict: Hashable, Sendable {
    /// The item is refused.
    case fail
    /// The item is skipped.
    case skip
    /// The record with the same values in the unique index on exactly these attributes gets the
    /// values of the item; its other values stay. A violation of another index is refused.
    case update(by: [String])
  }

  /// The treatment of the batch when an item is refused.
  public enum ItemErrors: Hashable, Sendable {
    /// The batch stops with a `BatchItemError`. Earlier items stay; the same request continues with
    /// that item.
    case stop
    /// The batch continues, counts the refused items, and lists the first `max` of them.
    case collect(max: Int)
  }

  /// The entity of the items; empty for a dump, whose records have any.
  public var entityName: String
  public var onConflict: Conflict
  public var itemErrors = ItemErrors.stop
  public var resultType: BatchResultType
  public var options: BatchRequestOptions
  /// Opens the source from its beginning at each call; an interrupted batch then skips the items
  /// that it has inserted.
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

  /// Creates a request for elements that are read during the run, such as the lines of a file.
  ///
  /// - Parameter read: Converts an element into an item. Its date is the time at which the batch
  ///   first began, also after an interruption: the same elements must give the same items.
  public init<Source: AsyncSequence & Sendable>(
    _ entityName: String, from source: Source, onConflict: Conflict = .fail,
    resultType: BatchResultType = .count, options: BatchRequestOptions = BatchRequestOptions(),
    read: @escaping @Sendable (Source.Element, Date) -> BatchItem
  ) {
    self.init(entityName, onConflict, resultType, options) { startedAt in
      BatchReader(source) { BatchRow(read($0, startedAt)) }
    }
  }

  /// Creates a request for the records of a dump, which are inserted under their ids, whatever
  /// their entities are.
  ///
  /// - Parameter read: Converts an element into an item with an id.
  package init<Source: AsyncSequence & Sendable>(
    dump source: Source, options: BatchRequestOptions,
    read: @escaping @Sendable (Source.Element) -> BatchItem
  ) {
    self.init("", .fail, .count, options) { _ in
      BatchReader(source) { BatchRow(read($0)) }
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

  /// The parts that identify the request: the name of its chunked write is a hash of them. The
  /// items are identified by a digest that is saved in the checkpoint.
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
  /// The values by attribute name, or the error for which the item is refused.
  public var values: Result<[String: Value], any Error>
  /// The origin of the item, such as a line of a file, for messages.
  public var place: String?
  /// The identity that the record gets; only in a dump.
  package var id: ObjectID?

  package init(_ id: ObjectID, _ values: [String: Value], place: String? = nil) {
    self.init(values, place: place)
    self.id = id
  }

  public init(_ values: [String: Value], place: String? = nil) {
    self.values = .success(values)
    self.place = place
  }

  public init(failure: any Error, place: String? = nil) {
    values = .failure(failure)
    self.place = place
  }
}
