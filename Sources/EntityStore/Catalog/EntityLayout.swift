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
  /// The hidden ones are among them.
  package let relationships: [RelationshipLayout]
  package let references: [HeldReference]
  package let history: HistoryShape
  /// What is being built of it.
  package let build: BuildLayout?
  package let positions: [String: Int]
  /// By position, as the next.
  let defaults: [Value]
  let attributeIDs: [UInt32]

  private let plan: RecordPlan
  private let defaultBytes: [UInt8]

  private let typePositions = Locked<[ObjectIdentifier: TypePositions]>([:])
  /// What the planner guesses by.
  let currentSample = Locked<EntitySample?>(nil)
  /// In which order a Swift type reads its attributes, learned from the first record it reads.
  private let readingOrders = Locked<[ObjectIdentifier: ReadingOrder]>([:])

  /// - Parameter indexTrees: Of all indexes of the schema, by index id.
  init(
    _ description: EntityDescription, in schema: Schema, tree: Tree, indexTrees: [Int: Tree],
    build: BuildLayout? = nil
  ) throws(StoreError) {
    self.description = description
    self.tree = tree
    self.build = build
    record = RecordLayout(description)
    defaults = description.attributes.map(\.defaultValue)
    attributeIDs = description.attributes.map { UInt32(truncatingIfNeeded: $0.id) }
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
    var relationships: [RelationshipLayout] = []
    for relationship in description.relationships {
      relationships.append(
        try RelationshipLayout(relationship, of: description, in: schema, trees: indexTrees))
    }
    self.relationships = relationships
    history = HistoryShape(description, in: schema)
    references = HeldReference.all(of: description, in: schema, indexes: indexes)
    let byID = Dictionary(
      uniqueKeysWithValues: description.attributes.enumerated().map { ($1.id, $0) })
    plan = RecordPlan(
      description.layouts[description.layouts.count - 1], version: record.currentVersion,
      positions: byID)
    var bytes: [UInt8] = []
    RecordEncoder.encode(defaults, as: plan, into: &bytes)
    defaultBytes = bytes
  }

  package var name: String { description.name }

  /// A row of which nothing is known.
  ///
  /// Made value by value, with code for this one type: to change a shared array would have the
  /// runtime copy it, which asks for each value how that is done.
  package func newRow() -> [Value] { defaults.map { $0 } }

  /// The same as bytes.
  package func newRowCopy() -> RowCopy { RowCopy(defaultBytes, of: self) }

  package func position(of attribute: String) throws(StoreError) -> Int {
    guard let position = positions[attribute] else {
      throw .unknownAttribute(attribute, in: description)
    }
    return position
  }

  /// - Throws: `validation` for a value of another kind than the attribute's; null is of any.
  func requireKind(of value: Value, at position: Int) throws(StoreError) {
    let attribute = description.attributes[position]
    guard let kind = value.kind, kind != attribute.type.kind else { return }
    throw .validation(
      .wrongKind(expected: attribute.type.kind, found: kind), entity: name,
      attribute: attribute.name)
  }

  package func relationship(named name: String) -> RelationshipLayout? {
    relationships.first { $0.name == name }
  }

  package func encode(_ values: [Value], into bytes: inout [UInt8]) {
    RecordEncoder.encode(values, as: plan, into: &bytes)
  }

  /// A row of defaults with the changes in it.
  func encode(_ changes: RowChanges, into bytes: inout [UInt8]) {
    defaultBytes.withUnsafeBytes {
      RecordEncoder.encode(changes, overSound: $0, as: plan, into: &bytes)
    }
  }

  /// - Parameter old: In the current layout.
  func encode(
    _ changes: RowChanges, over old: RecordView, into bytes: inout [UInt8]
  ) throws(RecordDamage) {
    try RecordEncoder.encode(changes, over: old, as: plan, into: &bytes)
  }

  /// The unique index on exactly these attributes, in any order. A list has many entries, so that
  /// none on a list serves. If there are several, one that compares all texts by their bytes is
  /// taken before one with a collation.
  ///
  /// - Throws: `invalidRequest` if there is none; `schemaMismatch` if the only one was made with
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
    if let found { throw .otherCollation(of: found, in: name) }
    throw StoreError(
      .invalidRequest, "no unique index on exactly these attributes",
      [("entity", name), ("attributes", attributes.joined(separator: ", "))],
      advice: "add one with a migration (createIndex, unique: true)")
  }

  /// A row with the values of a typed entity put over it.
  ///
  /// - Parameter values: Of the type's attributes, in the order in which it lists them.
  /// - Parameter links: Of its relationships likewise. What an attribute does not hold is no part
  ///   of the row.
  package func row(
    _ values: [Value], _ links: [ObjectID?], of type: any Entity.Type, over row: consuming [Value]
  ) throws(StoreError) -> [Value] {
    let positions = try positions(of: type)
    for (number, position) in positions.attributes.enumerated() { row[position] = values[number] }
    for (number, position) in positions.links.enumerated() {
      guard let position else { continue }
      row[position] = try reference(links[number], at: position)
    }
    return row
  }

  /// The value of an attribute that holds a reference.
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

  /// Where the attributes of a Swift type are, and those that hold its to-one relationships.
  struct TypePositions {
    var attributes: [Int] = []
    var links: [Int?] = []
  }

  func positions(of type: any Entity.Type) throws(StoreError) -> TypePositions {
    if let known = typePositions.withLock({ $0[ObjectIdentifier(type)] }) { return known }
    var found = TypePositions()
    for name in type.attributeNames { found.attributes.append(try position(of: name)) }
    for name in type.relationshipNames {
      guard case .attribute(let position, _) = try requiredRelationship(named: name).access else {
        found.links.append(nil)
        continue
      }
      found.links.append(position)
    }
    let positions = found
    typePositions.withLock { $0[ObjectIdentifier(type)] = positions }
    return positions
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

/// The positions of attributes and relationships that a Swift type asks for, in the order in which
/// it asks.
///
/// A record is then read by comparing literals' addresses instead of looking names up.
final class ReadingOrder: Sendable {
  struct Step: @unchecked Sendable {
    // SAFETY: points at a string literal, which lives as long as the program.
    let name: UnsafePointer<UInt8>
    /// Among the attributes, or among the relationships.
    let position: Int
    let isLink: Bool
  }
  let steps: [Step]

  init(_ steps: [Step]) { self.steps = steps }
}
