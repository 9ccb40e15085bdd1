package import EntityModel
import Foundation
package import LMDB
import SystemSupport

/// One entity as the transactions use it: description, record layout, trees, indexes.
package final class EntityLayout: Sendable {
  package let description: EntityDescription
  package let record: RecordLayout
  package let tree: Tree
  package let indexes: [IndexLayout]
  /// The unique index, if there is exactly one and it is not on a list.
  let onlyUniqueIndex: IndexLayout?
  /// The relationships, including the hidden ones.
  package let relationships: [RelationshipLayout]
  package let references: [HeldReference]
  package let history: HistoryShape
  /// The marks (see `RowChanges`) of the positions whose change affects an index.
  let indexMarks: UInt64
  /// The same for each index, by its number.
  let marksByIndex: [UInt64]
  /// True if no deletion of a record concerns other records or records of link entities.
  let isDeletedAlone: Bool
  /// The structures that are being built for it.
  package let build: BuildLayout?
  /// The indexes that a load has set aside (see ``DeferredIndexes``).
  package let deferredIndexes: [IndexDescription]
  package let positions: [String: Int]
  /// The default values by attribute position.
  let defaults: [Value]
  let attributeIDs: [UInt32]
  /// The attributes by position: true if the value is stored as UTF-8.
  fileprivate let areTexts: [Bool]

  private let plan: RecordPlan
  /// The bytes of a row of default values.
  let defaultBytes: [UInt8]

  /// The positions that Swift types use, looked up at the first use of each.
  let typePositions = Locked<[ObjectIdentifier: TypePositions]>([:])
  /// The cached sample from which the planner estimates costs.
  let currentSample = Locked<EntitySample?>(nil)
  /// The orders in which Swift types read their attributes, learned from the first record that each
  /// reads.
  private let readingOrders = Locked<[ObjectIdentifier: ReadingOrder]>([:])

  /// Creates the layout of an entity.
  ///
  /// - Parameter indexTrees: The trees of all indexes of the schema, by index id.
  init(
    _ description: EntityDescription, in schema: Schema, tree: Tree, indexTrees: [Int: Tree],
    build: BuildLayout? = nil, deferredIndexes: [IndexDescription] = []
  ) throws(StoreError) {
    self.description = description
    self.tree = tree
    self.build = build
    self.deferredIndexes = deferredIndexes
    record = RecordLayout(description)
    defaults = description.attributes.map(\.defaultValue)
    attributeIDs = description.attributes.map { UInt32(truncatingIfNeeded: $0.id) }
    areTexts = description.attributes.map(\.type.kind.isText)
    positions = Dictionary(
      uniqueKeysWithValues: description.attributes.enumerated().map { ($1.name, $0) })
    var indexes: [IndexLayout] = []
    for index in description.indexes {
      guard let tree = indexTrees[index.id] else {
        throw .damaged("an index of the catalog has no tree", entity: description.name)
      }
      indexes.append(
        try IndexLayout(index, of: description, tree: tree, number: indexes.count))
    }
    self.indexes = indexes
    let unique = indexes.filter(\.isUnique)
    onlyUniqueIndex = unique.count == 1 && unique[0].listPart == nil ? unique[0] : nil
    var relationships: [RelationshipLayout] = []
    for relationship in description.relationships {
      relationships.append(
        try RelationshipLayout(relationship, of: description, in: schema, trees: indexTrees))
    }
    self.relationships = relationships
    marksByIndex = indexes.map(\.marks)
    indexMarks = indexes.reduce(0) { $0 | $1.marks }
    isDeletedAlone = !relationships.contains(where: \.isReadByDeletions)
    history = HistoryShape(description, in: schema)
    references = HeldReference.all(of: description, in: schema, indexes: indexes)
    plan = record.plan
    defaultBytes = Array(record.prototype)
  }

  package var name: String { description.name }

  /// Returns a row of default values.
  ///
  /// The array is built value by value, with code for this one type: changing a shared array would
  /// make the runtime copy it with generic code, which is slower.
  package func newRow() -> [Value] { defaults.map { $0 } }

  package func position(of attribute: String) throws(StoreError) -> Int {
    guard let position = positions[attribute] else {
      throw .unknownAttribute(attribute, in: description)
    }
    return position
  }

  /// Checks the kind of a value.
  ///
  /// - Throws: `validation` for a value of another kind than the attribute's; null is valid for
  ///   all.
  func requireKind(of value: Value, at position: Int) throws(StoreError) {
    let attribute = description.attributes[position]
    guard let kind = value.kind, kind != attribute.type.kind else { return }
    throw .validation(
      .wrongKind(expected: attribute.type.kind, found: kind), entity: name,
      attribute: attribute.name)
  }

  /// Compares a stored record with its seal.
  ///
  /// - Throws: `damaged`, with entity and id.
  package func verify(_ bytes: UnsafeRawBufferPointer, id: Int64) throws(StoreError) {
    guard let flaw = record.sealFlaw(of: bytes, id: id) else { return }
    throw .damaged(flaw, entity: name, id: id)
  }

  package func relationship(named name: String) -> RelationshipLayout? {
    relationships.first { $0.name == name }
  }

  package func encode(_ values: [Value], into bytes: inout [UInt8]) {
    RecordEncoder.encode(values, as: plan, into: &bytes)
  }

  /// Encodes a row of default values with the changes applied.
  func encode(_ changes: RowChanges, into bytes: inout [UInt8]) {
    defaultBytes.withUnsafeBytes {
      RecordEncoder.encode(changes, overSound: $0, as: plan, into: &bytes)
    }
  }

  /// Encodes a row with the changes applied.
  ///
  /// - Parameter old: A row in the current layout.
  func encode(
    _ changes: RowChanges, over old: RecordView, into bytes: inout [UInt8]
  ) throws(RecordDamage) {
    try RecordEncoder.encode(changes, over: old, as: plan, into: &bytes)
  }

  /// Runs a closure that decodes a part of a record.
  ///
  /// - Throws: `damaged`, with entity and id.
  @inline(__always)
  func decoding<R>(
    _ id: Int64, _ body: () throws(RecordDamage) -> R
  ) throws(StoreError) -> R {
    do {
      return try body()
    } catch {
      throw unreadable(id)
    }
  }

  /// Runs a closure that reads a record and may throw other errors, too.
  ///
  /// It is not inlined in other modules: a hot path there catches `RecordDamage` itself and throws
  /// ``unreadable(_:)``.
  ///
  /// - Throws: `damaged`, with entity and id; the errors of the closure.
  @inline(__always)
  package func reading<R>(_ id: Int64, _ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch is RecordDamage {
      throw unreadable(id)
    }
  }

  /// Returns the error for a record that cannot be decoded.
  package func unreadable(_ id: Int64) -> StoreError {
    .damaged("a record is unreadable", entity: name, id: id)
  }

  /// Returns the index with this name.
  ///
  /// - Throws: `invalidRequest` if the entity has no such index.
  package func index(named name: String) throws(StoreError) -> IndexLayout {
    guard let index = indexes.first(where: { $0.description.name == name }) else {
      throw StoreError(
        .invalidRequest, "an entity has no index of this name",
        [("entity", self.name), ("index", name)])
    }
    return index
  }

  /// Returns the unique index on exactly these attributes, in any order. An index on a list has
  /// several entries for each record and is not considered. If there are several, an index that
  /// compares all texts by their bytes is preferred to one with a collation.
  ///
  /// - Throws: `invalidRequest` if there is none; `schemaMismatch` if the only one was created with
  ///   another version of its collation.
  package func uniqueIndex(on attributes: [String]) throws(StoreError) -> IndexLayout {
    var wanted: [Int] = []
    for attribute in attributes { wanted.append(try position(of: attribute)) }
    var found: IndexLayout?
    for index in indexes where index.isUnique(onExactly: wanted) {
      if index.description.collationVersion == nil { return index }
      if found?.isUsable != true { found = index }
    }
    if let found, found.isUsable { return found }
    if let found { throw .otherCollation(of: found.description, in: name) }
    throw StoreError(
      .invalidRequest, "no unique index on exactly these attributes",
      [("entity", name), ("attributes", attributes.joined(separator: ", "))],
      advice: "add one with a migration (createIndex, unique: true)")
  }

  /// Returns the value of an attribute that holds a reference.
  func reference(_ id: ObjectID?, at position: Int) throws(StoreError) -> Value {
    guard let id else { return .null }
    let attribute = description.attributes[position]
    guard attribute.type == .reference(id.entity) else {
      throw StoreError(
        .invalidRequest, "a relationship leads to a record of another entity",
        [("entity", name), ("relationship", attribute.name), ("record", id.description)])
    }
    return .int64(id.number)
  }

  /// The positions of a Swift type's attributes, and of those that hold its to-one relationships.
  struct TypePositions {
    var attributes: [Int] = []
    var links: [Int?] = []
  }

  func readingOrder(of type: Any.Type) -> ReadingOrder? {
    readingOrders.withLock { $0[ObjectIdentifier(type)] }
  }

  func keep(_ order: ReadingOrder, for type: Any.Type) {
    readingOrders.withLock { $0[ObjectIdentifier(type)] = order }
  }

  package static func treeName(of entity: EntityDescription) -> String { "r.\(entity.id)" }
  package static func treeName(of index: IndexDescription) -> String {
    "i.\(index.id).\(index.generation)"
  }
}

/// The positions of attributes and relationships in the order in which a Swift type requests them.
///
/// A record is then read by comparing the addresses of literals instead of looking up names.
final class ReadingOrder: @unchecked Sendable {
  struct Step {
    /// The address of a string literal, which lives as long as the program; `nil` after the last.
    var name: UnsafePointer<UInt8>?
    /// The position among the attributes, or among the relationships.
    var position = 0
    var isLink = false
  }

  static let none = ReadingOrder([])

  /// The steps, with one without a name at the end.
  let first: UnsafePointer<Step>
  /// True if it is faster to check all texts of a record together than each that is read.
  let readsMostTexts: Bool

  // SAFETY (`@unchecked Sendable`): the steps are only read after `init`.

  init(_ steps: [Step], of entity: EntityLayout? = nil) {
    let copy = UnsafeMutablePointer<Step>.allocate(capacity: steps.count + 1)
    for (number, step) in (steps + [Step()]).enumerated() {
      (copy + number).initialize(to: step)
    }
    first = UnsafePointer(copy)
    let areTexts = entity?.areTexts ?? []
    let read = steps.count { !$0.isLink && areTexts[$0.position] }
    readsMostTexts = read > 1 && read * 2 > areTexts.count { $0 }
  }

  deinit { first.deallocate() }
}

/// A sample of the records of an entity, taken evenly over its record ids, from which the planner
/// estimates how many records match a predicate.
///
/// An estimate never changes a result, only the plan. Therefore the sample may be somewhat old: it
/// is taken again after many commits, or when the number of records has changed by an eighth.
final class EntitySample: Sendable {
  /// Copies of the rows, with the record ids.
  let records: [(id: Int64, bytes: [UInt8])]
  /// The number of records of the entity when the sample was taken.
  let recordCount: Int
  /// The id of the transaction that took it.
  let transactionID: Int

  init(records: [(id: Int64, bytes: [UInt8])], recordCount: Int, transactionID: Int) {
    self.records = records
    self.recordCount = recordCount
    self.transactionID = transactionID
  }
}
