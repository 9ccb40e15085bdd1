public import EntityModel

/// A reader for the attributes and relationships of one record in place.
///
/// Valid only inside `init(from:)`, or in the closure that it is passed to. Read the attributes in
/// the same order each time: the reader learns the order from the first record and then finds each
/// attribute without looking it up.
public struct RecordReader {
  let view: RecordView
  let entity: EntityLayout
  private let number: Int64
  // SAFETY: the decoder that creates a reader holds the transaction for as long as the reader is
  // used. Counting a reference for each record would take longer than reading an attribute.
  private let transaction: Unmanaged<ReadTransaction>
  private let order: ReadingOrder?
  private var next = 0
  /// The order of the reads so far, recorded while it is not known yet.
  fileprivate(set) var learned: [ReadingOrder.Step] = []

  init(
    _ view: RecordView, number: Int64, entity: EntityLayout, transaction: ReadTransaction,
    order: ReadingOrder?
  ) {
    self.view = view
    self.number = number
    self.entity = entity
    self.transaction = .passUnretained(transaction)
    self.order = order
  }

  /// The identity of the record.
  public var id: ObjectID { ObjectID(entity: entity.name, number: number) }

  /// The value of an attribute.
  ///
  /// - Throws: `unknownAttribute`, `schemaMismatch`, `damaged`.
  @inlinable
  public subscript<T: AttributeValue>(_ name: StaticString) -> T {
    mutating get throws { try T(reading: try field(name)) }
  }

  /// Calls the closure with a text in place, without copying it.
  ///
  /// - Returns: The result of the closure; `nil` for null.
  /// - Throws: `unknownAttribute`; `schemaMismatch` for an attribute of another kind; `damaged`;
  ///   the error of the closure.
  @inlinable
  public mutating func withText<R>(
    _ name: StaticString, _ body: (UTF8Span) throws -> R
  ) throws -> R? {
    try field(name).withText(body)
  }

  /// The link of a to-one relationship; `nil` if there is none.
  ///
  /// - Throws: `unknownRelationship`, `damaged`, `storage`.
  public subscript<T: Entity>(_ name: StaticString) -> ToOne<T>? {
    mutating get throws { try linked(name).map { ToOne($0) } }
  }

  /// The link of a to-one relationship that is not optional.
  ///
  /// - Throws: `schemaMismatch` without a link; `unknownRelationship`, `damaged`, `storage`.
  public subscript<T: Entity>(_ name: StaticString) -> ToOne<T> {
    mutating get throws {
      if let link = try linked(name) { return ToOne(link) }
      throw StoreError(
        .schemaMismatch, "a required relationship leads to no record",
        [("record", id.description), ("relationship", "\(name)")],
        advice: "make the property optional, or repair the record")
    }
  }

  /// A to-many relationship; its records are read only by a prefetch.
  ///
  /// - Throws: `unknownRelationship`.
  public subscript<T: Entity>(_ name: StaticString) -> ToMany<T> {
    mutating get throws { ToMany(of: id, try relationship(name).name) }
  }

  private mutating func linked(_ name: StaticString) throws -> ObjectID? {
    let relationship = try relationship(name)
    // SAFETY: see `transaction`.
    let other = try transaction._withUnsafeGuaranteedRef {
      try $0.linked(relationship, from: view, id: number)
    }
    return other.map { ObjectID(entity: relationship.description.destination, number: $0) }
  }

  private mutating func relationship(_ name: StaticString) throws -> RelationshipLayout {
    let position = try position(of: name, isLink: true) { entity, name throws(StoreError) in
      let found = try entity.requiredRelationship(named: name)
      return entity.relationships.firstIndex { $0.name == found.name } ?? 0
    }
    return entity.relationships[position]
  }

  @usableFromInline
  mutating func field(_ name: StaticString) throws -> StoredField {
    let position = try position(of: name, isLink: false) { entity, name throws(StoreError) in
      try entity.position(of: name)
    }
    return StoredField(
      field: view.field(position), position: position, layout: .passUnretained(entity))
  }

  /// Returns the position of an attribute or relationship.
  ///
  /// - Parameter find: Finds the name among the entity's attributes or relationships.
  @inline(__always)
  private mutating func position(
    of name: StaticString, isLink: Bool,
    _ find: (EntityLayout, String) throws(StoreError) -> Int
  ) throws -> Int {
    if let order, next < order.steps.count, name.hasPointerRepresentation,
      order.steps[next].name == name.utf8Start, order.steps[next].isLink == isLink
    {
      next += 1
      return order.steps[next - 1].position
    }
    let position = try find(entity, "\(name)")
    if name.hasPointerRepresentation {
      learned.append(
        ReadingOrder.Step(name: name.utf8Start, position: position, isLink: isLink))
    }
    return position
  }
}

/// Passes records of one entity to one Swift type, or to a closure.
package struct EntityDecoder {
  /// The type whose reading order is stored for other fetches; `nil` for a closure.
  private let type: Any.Type?
  private let entity: EntityLayout
  private let transaction: ReadTransaction
  private var order: ReadingOrder?

  package init(_ type: Any.Type? = nil, entity: EntityLayout, in transaction: ReadTransaction) {
    self.type = type
    self.entity = entity
    self.transaction = transaction
    order = type.flatMap { entity.readingOrder(of: $0) }
  }

  package mutating func decode(
    _ view: RecordView, _ number: Int64, _ body: (inout RecordReader) throws -> Void
  ) throws {
    var reader = RecordReader(
      view, number: number, entity: entity, transaction: transaction, order: order)
    try body(&reader)
    if order == nil {
      let learned = ReadingOrder(reader.learned)
      if let type { entity.keep(learned, for: type) }
      order = learned
    }
  }
}
