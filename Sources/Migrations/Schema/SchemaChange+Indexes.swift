import EntityModel
import EntityStore

/// `createIndex`, `changeIndex`, `dropIndex`.
extension SchemaChange {
  mutating func createIndex(
    _ definition: IndexDefinition, on name: String
  ) throws(StoreError) {
    let number = try schema.number(of: name)
    guard schema.entities[number].index(named: definition.name) == nil else {
      throw StoreError(
        .migration, "the index exists already", [("entity", name), ("index", definition.name)])
    }
    let keys = try keys(of: definition, on: schema.entities[number])
    schema.entities[number].indexes.append(
      IndexDescription(
        id: schema.nextIndexID, name: definition.name, keys: keys, isUnique: definition.isUnique,
        isSparse: definition.isSparse, collationVersion: try KeyCollation.version(of: keys)))
    schema.nextIndexID += 1
    if definition.isUnique { try checkUnlinking() }
  }

  /// Changes an index. It keeps its id, and its entries go into the tree of a new generation.
  mutating func changeIndex(
    _ definition: IndexDefinition, on name: String
  ) throws(StoreError) {
    let number = try schema.number(of: name)
    let position = try index(definition.name, of: number)
    let keys = try keys(of: definition, on: schema.entities[number])
    var index = schema.entities[number].indexes[position]
    index.generation += 1
    index.keys = keys
    index.isUnique = definition.isUnique
    index.isSparse = definition.isSparse
    index.collationVersion = try KeyCollation.version(of: keys)
    schema.entities[number].indexes[position] = index
    if definition.isUnique { try checkUnlinking() }
  }

  mutating func dropIndex(_ name: String, of entity: String) throws(StoreError) {
    let number = try schema.number(of: entity)
    schema.entities[number].indexes.remove(at: try index(name, of: number))
  }

  private func index(_ name: String, of number: Int) throws(StoreError) -> Int {
    let entity = schema.entities[number]
    guard let position = entity.indexes.firstIndex(where: { $0.name == name }) else {
      throw StoreError(
        .migration, "no such index", [("entity", entity.name), ("index", name)],
        advice: entity.advice(on: name, among: entity.indexes.map(\.name)))
    }
    return position
  }

  private func keys(
    of definition: IndexDefinition, on entity: EntityDescription
  ) throws(StoreError) -> [IndexKey] {
    var keys: [IndexKey] = []
    for key in definition.keys {
      guard let attribute = entity.attribute(named: key.attribute) else {
        throw .unknownAttribute(key.attribute, in: entity)
      }
      keys.append(
        IndexKey(
          attributeID: attribute.id, isDescending: key.isDescending, collation: key.collation))
    }
    try check(keys, of: definition.name, on: entity)
    return keys
  }

  /// Checks the keys of an index.
  ///
  /// - Throws: `migration` for keys that no index can have.
  func check(
    _ keys: [IndexKey], of index: String, on entity: EntityDescription
  ) throws(StoreError) {
    var lists = 0
    for key in keys {
      guard let attribute = entity.attributes.first(where: { $0.id == key.attributeID }) else {
        continue
      }
      if attribute.type.kind == .strings { lists += 1 }
      guard key.collation == .binary || attribute.type == .string else {
        throw StoreError(
          .migration, "a collation is for attributes of the type string",
          [
            ("entity", entity.name), ("index", index), ("attribute", attribute.name),
            ("collation", key.collation.text),
          ], advice: "leave it out")
      }
    }
    guard lists <= 1, Set(keys.map(\.attributeID)).count == keys.count,
      (1...IndexLayout.keyPartsMax).contains(keys.count)
    else {
      throw StoreError(
        .migration, "an index has 1 to 8 keys, at most one list and each attribute once",
        [("entity", entity.name), ("index", index)])
    }
  }
}
