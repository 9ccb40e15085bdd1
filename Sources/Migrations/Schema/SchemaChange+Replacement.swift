import EntityModel
import EntityStore

/// `retypeAttribute` and `runCode`: attributes of which every record gets another value.
extension SchemaChange {
  mutating func retypeAttribute(_ retyping: AttributeRetyping) throws(StoreError) {
    let number = try schema.number(of: retyping.entity)
    let position = try attribute(retyping.name, of: number)
    let old = schema.entities[number].attributes[position]
    try replaceAttributes([position: retyping.attribute(from: old)], of: number)
  }

  mutating func replaceAttributes(changedBy code: CodeReference) throws(StoreError) {
    let number = try schema.number(of: code.entity)
    var replacements: [Int: AttributeDescription] = [:]
    for name in code.changes {
      let position = try attribute(name, of: number)
      replacements[position] = schema.entities[number].attributes[position]
    }
    try replaceAttributes(replacements, of: number)
  }

  /// Replaces the attributes at some positions by attributes with new ids.
  ///
  /// The entity gets two layouts. The first has the old attributes, unchanged, followed by the new
  /// ones; rows have it while the values are computed. The second has the new attributes alone.
  /// Each index that contains such an attribute is rebuilt.
  private mutating func replaceAttributes(
    _ replacements: [Int: AttributeDescription], of number: Int
  ) throws(StoreError) {
    var entity = schema.entities[number]
    let old = entity.attributes
    var newIDs: [Int: Int] = [:]
    var added: [AttributeDescription] = []
    for (position, replacement) in replacements.sorted(by: { $0.key < $1.key }) {
      try refuseRelationship(on: position, of: number)
      var attribute = replacement
      attribute.id = entity.nextAttributeID
      entity.nextAttributeID += 1
      newIDs[old[position].id] = attribute.id
      entity.attributes[position] = attribute
      added.append(attribute)
    }
    entity.layouts.append(RecordShape(of: old + added))
    entity.addLayout()
    for position in entity.indexes.indices {
      var index = entity.indexes[position]
      let keys = index.keys.map { key in
        var key = key
        key.attributeID = newIDs[key.attributeID] ?? key.attributeID
        return key
      }
      if keys == index.keys { continue }
      try check(keys, of: index.name, on: entity)
      index.keys = keys
      index.generation += 1
      index.collationVersion = try KeyCollation.version(of: keys)
      entity.indexes[position] = index
    }
    schema.entities[number] = entity
  }
}
