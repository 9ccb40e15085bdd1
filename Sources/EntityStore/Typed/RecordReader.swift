public import EntityModel

/// A reader for the attributes and relationships of one record in place.
///
/// Valid only inside `init(from:)`, or in the closure that it is passed to. Read the attributes in
/// the same order each time: the reader learns the order from the first record and then finds each
/// attribute without looking it up.
public struct RecordReader {
  private let view: RecordView
  private let number: Int64
  // SAFETY: the decoder calls the code that uses the reader, and lives until it returns. Counting a
  // reference for each record would take longer than reading an attribute.
  private let decoder: Unmanaged<EntityDecoder>
  /// The read that is expected next.
  private var next: UnsafePointer<ReadingOrder.Step>

  fileprivate init(
    _ view: RecordView, number: Int64, decoder: EntityDecoder,
    next: UnsafePointer<ReadingOrder.Step>
  ) {
    self.view = view
    self.number = number
    self.decoder = .passUnretained(decoder)
    self.next = next
  }

  private var entity: EntityLayout { decoder._withUnsafeGuaranteedRef { $0.entity } }

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
  /// - Throws: `unknownRelationship`, `damaged`, a storage failure.
  public subscript<T: Entity>(_ name: StaticString) -> ToOne<T>? {
    mutating get throws { try linked(name).map { ToOne($0) } }
  }

  /// The link of a to-one relationship that is not optional.
  ///
  /// - Throws: `schemaMismatch` without a link; `unknownRelationship`, `damaged`, a storage
  ///   failure.
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
    // SAFETY: see `decoder`.
    let other = try decoder._withUnsafeGuaranteedRef {
      try $0.transaction.linked(relationship, from: view, id: number)
    }
    return other.map { ObjectID(entity: relationship.description.destination, number: $0) }
  }

  private mutating func relationship(_ name: StaticString) throws -> RelationshipLayout {
    if let position = expected(name, isLink: true) { return entity.relationships[position] }
    let found = try entity.requiredRelationship(named: "\(name)")
    let position = entity.relationships.firstIndex { $0.name == found.name } ?? 0
    learn(name, position, isLink: true)
    return found
  }

  @usableFromInline
  mutating func field(_ name: StaticString) throws -> StoredField {
    let position = try expected(name, isLink: false) ?? attribute(name)
    return StoredField(field: view.field(position), decoder: decoder)
  }

  @inline(never)
  private func attribute(_ name: StaticString) throws -> Int {
    let position = try entity.position(of: "\(name)")
    learn(name, position, isLink: false)
    return position
  }

  /// Returns the position of an attribute or relationship if it is the one that is read next.
  @inline(__always)
  private mutating func expected(_ name: StaticString, isLink: Bool) -> Int? {
    // SAFETY: the last step has no name, so that it is never passed.
    guard name.hasPointerRepresentation, next.pointee.name == name.utf8Start,
      next.pointee.isLink == isLink
    else { return nil }
    next += 1
    return (next - 1).pointee.position
  }

  private func learn(_ name: StaticString, _ position: Int, isLink: Bool) {
    guard name.hasPointerRepresentation else { return }
    decoder._withUnsafeGuaranteedRef {
      $0.learn(ReadingOrder.Step(name: name.utf8Start, position: position, isLink: isLink))
    }
  }
}

/// Passes records of one entity to one Swift type, or to a closure.
package final class EntityDecoder {
  private let type: Any.Type
  let entity: EntityLayout
  fileprivate let transaction: ReadTransaction
  // SAFETY (of what is unchecked): no other code is called while these are read or changed.
  /// The order in which the type is expected to read; `nil` before its first record.
  @exclusivity(unchecked) private var order: ReadingOrder?
  // SAFETY: `order` is only replaced between two records, so that it outlives their readers.
  @exclusivity(unchecked) private var first = ReadingOrder.none.first
  @exclusivity(unchecked) private var readsMostTexts = false
  /// The reads of the first record, while the order is not known yet.
  @exclusivity(unchecked) private var learned: [ReadingOrder.Step] = []
  /// True if the next record is the first one, or if one was read in another order than expected.
  @exclusivity(unchecked) private var isLearning = false
  @exclusivity(unchecked) private var hasLearned = false

  /// Creates a decoder.
  ///
  /// - Parameter type: The type whose reading order is stored for other fetches. The closures that
  ///   read records of the entity share one, which the last of them has learned.
  package init(
    _ type: Any.Type = RecordReader.self, entity: EntityLayout, in transaction: ReadTransaction
  ) {
    self.type = type
    self.entity = entity
    self.transaction = transaction
    if let order = entity.readingOrder(of: type) { expect(order) } else { isLearning = true }
  }

  private func expect(_ order: ReadingOrder) {
    self.order = order
    first = order.first
    readsMostTexts = order.readsMostTexts
  }

  package func decode(
    _ view: RecordView, _ number: Int64, _ body: (inout RecordReader) throws -> Void
  ) throws {
    if isLearning { return try decodeFirst(view, number, body) }
    var view = view
    if readsMostTexts { view.checkTexts() }
    var reader = RecordReader(view, number: number, decoder: self, next: first)
    try body(&reader)
  }

  private func decodeFirst(
    _ view: RecordView, _ number: Int64, _ body: (inout RecordReader) throws -> Void
  ) throws {
    learned = []
    hasLearned = true
    var reader = RecordReader(view, number: number, decoder: self, next: ReadingOrder.none.first)
    try body(&reader)
    let found = ReadingOrder(learned, of: entity)
    entity.keep(found, for: type)
    expect(found)
    isLearning = false
  }

  /// Adds a read that was not expected. If it is not one of the first record, the order is learned
  /// from the next one, but only once: some types read other attributes of each record.
  fileprivate func learn(_ step: ReadingOrder.Step) {
    if hasLearned {
      if isLearning { learned.append(step) }
    } else {
      isLearning = true
    }
  }

  /// Returns the name of the attribute of a field of one of the entity's records.
  func name(of field: RecordField) -> String {
    entity.description.attributes[Int(field.slot.position)].name
  }
}
