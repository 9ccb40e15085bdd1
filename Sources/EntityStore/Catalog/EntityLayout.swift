package import EntityModel
import Foundation
import LMDB

/// One entity as the transactions use it: description, record layout, trees, indexes.
package final class EntityLayout: Sendable {
  package let description: EntityDescription
  let record: RecordLayout
  let tree: Tree
  let indexes: [IndexLayout]
  /// The hidden ones are among them.
  let relationships: [RelationshipLayout]
  let references: [HeldReference]
  package let positions: [String: Int]

  // What the encoder needs, computed once.
  private let shape: RecordShape
  private let geometry: RecordGeometry
  private let slotPositions: [Int?]

  /// A row of which nothing is known.
  package let defaults: [Value]

  /// Where the attributes of a Swift type are, in the order in which it lists them.
  private let typePositions = Guarded<[ObjectIdentifier: [Int]]>([:])
  /// What the planner guesses by.
  let currentSample = Guarded<EntitySample?>(nil)
  /// In which order a Swift type reads its attributes, learned from the first record it reads.
  private let readingOrders = Guarded<[ObjectIdentifier: ReadingOrder]>([:])

  /// - Parameter indexTrees: Of all indexes of the schema, by index id.
  init(
    _ description: EntityDescription, in schema: Schema, tree: Tree, indexTrees: [Int: Tree]
  ) throws(StoreError) {
    self.description = description
    self.tree = tree
    record = RecordLayout(description)
    defaults = description.attributes.map(\.defaultValue)
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
    references = HeldReference.all(of: description, in: schema, indexes: indexes)
    shape = description.layouts[description.layouts.count - 1]
    geometry = RecordGeometry(shape)
    let byID = Dictionary(
      uniqueKeysWithValues: description.attributes.enumerated().map { ($1.id, $0) })
    slotPositions = shape.slots.map { byID[$0.attributeID] }
  }

  package var name: String { description.name }

  package func position(of attribute: String) throws(StoreError) -> Int {
    guard let position = positions[attribute] else {
      throw .unknownAttribute(attribute, in: description)
    }
    return position
  }

  func relationship(named name: String) -> RelationshipLayout? {
    relationships.first { $0.name == name }
  }

  func encode(_ values: [Value], into bytes: inout [UInt8]) {
    RecordEncoder.encode(
      values, version: record.currentVersion, shape: shape, geometry: geometry,
      order: slotPositions, into: &bytes)
  }

  /// The unique index on exactly these attributes, in any order. A list has many entries, so that
  /// none on a list serves. If there are several, one that compares all texts by their bytes is
  /// taken before one with a collation.
  ///
  /// - Throws: `invalidRequest` if there is none; `schemaMismatch` if the only one was made with
  ///   another version of its collation.
  package func uniqueIndex(on attributes: [String]) throws(StoreError) -> IndexLayout {
    var wanted: Set<Int> = []
    for attribute in attributes { wanted.insert(try position(of: attribute)) }
    let found = indexes.filter { index in
      index.isUnique && index.listPart == nil && Set(index.parts.map(\.position)) == wanted
    }
    if let index = found.first(where: { $0.description.collationVersion == nil }) { return index }
    if let index = found.first(where: \.isUsable) { return index }
    if let index = found.first { throw .otherCollation(of: index, in: name) }
    throw StoreError(
      .invalidRequest, "no unique index on exactly these attributes",
      [("entity", name), ("attributes", attributes.joined(separator: ", "))],
      advice: "add one with a migration (createIndex, unique: true)")
  }

  /// A row with the values of a typed entity put over it.
  ///
  /// - Parameter values: Of the type's attributes, in the order in which it lists them.
  func row(
    _ values: [Value], of type: any Entity.Type, over row: [Value]
  ) throws(StoreError) -> [Value] {
    let positions = try positions(of: type)
    var row = row
    for (number, position) in positions.enumerated() { row[position] = values[number] }
    return row
  }

  private func positions(of type: any Entity.Type) throws(StoreError) -> [Int] {
    if let known = typePositions.withLock({ $0[ObjectIdentifier(type)] }) { return known }
    var found: [Int] = []
    for name in type.attributeNames { found.append(try position(of: name)) }
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

  static func treeName(of entity: EntityDescription) -> String { "r.\(entity.id)" }
  static func treeName(of index: IndexDescription) -> String { "i.\(index.id).\(index.generation)" }
}

/// The attribute positions that a Swift type asks for, in the order in which it asks.
///
/// A record is then read by comparing literals' addresses instead of looking names up.
final class ReadingOrder: Sendable {
  struct Step: @unchecked Sendable {
    // SAFETY: points at a string literal, which lives as long as the program.
    let name: UnsafePointer<UInt8>
    let position: Int
  }
  let steps: [Step]

  init(_ steps: [Step]) { self.steps = steps }
}
