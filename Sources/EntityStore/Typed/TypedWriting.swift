public import EntityModel

/// The mapping of a Swift type to its entity, looked up once, because most writes change several
/// records of one type in a row.
final class TypeBinding {
  let entity: EntityLayout
  let positions: EntityLayout.TypePositions
  /// True if the type has all attributes, in the order of the entity, and nothing else.
  let isWholeRow: Bool
  private let type: any Entity.Type
  /// The key of the last upsert. The key paths are retained, so that no other object gets their
  /// addresses.
  private var key: (paths: [AnyKeyPath], index: IndexLayout)?

  /// Looks up the entity, attributes and relationships of the type.
  ///
  /// - Throws: `unknownEntity`, `unknownAttribute`.
  init(_ type: any Entity.Type, in catalog: Catalog) throws {
    self.type = type
    entity = try catalog.entity(type.entityName)
    positions = try entity.positions(of: type)
    isWholeRow =
      positions.links.isEmpty
      && positions.attributes.elementsEqual(entity.description.attributes.indices)
  }

  func isOf(_ type: any Entity.Type, in catalog: Catalog) -> Bool {
    self.type == type && catalog.entities[entity.name] === entity
  }

  /// Returns the values of a new record.
  func row(_ values: [Value], _ links: [ObjectID?]) throws -> [Value] {
    if isWholeRow { return values }
    return try entity.row(values, links, of: type, over: entity.newRow())
  }

  /// Returns the values that differ from those of the record.
  func changes(
    _ values: [Value], _ links: [ObjectID?], of record: RecordView
  ) throws -> RowChanges {
    var changes = RowChanges()
    for (number, position) in positions.attributes.enumerated()
    where try !record.field(position).holds(values[number]) {
      changes.set(position, to: values[number])
    }
    for (number, position) in positions.links.enumerated() {
      guard let position else { continue }
      let value = try entity.reference(links[number], at: position)
      if try !record.field(position).holds(value) { changes.set(position, to: value) }
    }
    return changes
  }

  /// Returns the unique index on some attributes.
  ///
  /// - Parameter names: Returns the names of the attributes of the key paths.
  /// - Throws: As `EntityLayout.uniqueIndex`; the error of `names`.
  func index(on paths: [AnyKeyPath], names: () throws -> [String]) throws -> IndexLayout {
    if let key, key.paths.elementsEqual(paths, by: { $0 === $1 }) { return key.index }
    let index = try entity.uniqueIndex(on: try names())
    key = (paths, index)
    return index
  }
}

extension WriteTransaction {
  @usableFromInline
  package func insert(
    _ values: [Value], _ links: [ObjectID?], as type: any Entity.Type
  ) throws -> ObjectID {
    let binding = try binding(of: type)
    let id = try insert(try binding.row(values, links), into: binding.entity)
    return ObjectID(entity: binding.entity.name, number: id)
  }

  // Not generic: a generic call into this module looks up the metadata of its types each time.
  @usableFromInline
  package func upsert(
    _ values: [Value], _ links: [ObjectID?], as type: any Entity.Type, by keyPaths: [AnyKeyPath],
    named names: () throws -> [String]
  ) throws -> ObjectID {
    let binding = try binding(of: type)
    return try upsert(values, links, binding, by: try binding.index(on: keyPaths, names: names))
  }

  package func upsert(
    _ values: [Value], _ links: [ObjectID?], as type: any Entity.Type, by attributes: [String]
  ) throws -> ObjectID {
    let binding = try binding(of: type)
    return try upsert(values, links, binding, by: try binding.entity.uniqueIndex(on: attributes))
  }

  private func upsert(
    _ values: [Value], _ links: [ObjectID?], _ binding: TypeBinding, by index: IndexLayout
  ) throws -> ObjectID {
    let entity = binding.entity
    let found = try identifier(in: entity, index: index) { position in
      binding.positions.attributes.firstIndex(of: position).map { values[$0] }
        ?? entity.description.attributes[position].defaultValue
    }
    guard let found else {
      let id = try insert(try binding.row(values, links), into: entity)
      return ObjectID(entity: entity.name, number: id)
    }
    try update(found, to: values, links, binding)
    return ObjectID(entity: entity.name, number: found)
  }

  @usableFromInline
  func update(
    _ id: ObjectID, to values: [Value], _ links: [ObjectID?], as type: any Entity.Type
  ) throws {
    try StoreError.requireEntity(type.entityName, of: id)
    try update(id.number, to: values, links, try binding(of: type))
  }

  private func update(
    _ id: Int64, to values: [Value], _ links: [ObjectID?], _ binding: TypeBinding
  ) throws {
    let entity = binding.entity
    guard let old = try view(of: id, in: entity) else {
      throw StoreError.missing(ObjectID(entity: entity.name, number: id))
    }
    let changes = try entity.reading(id) { try binding.changes(values, links, of: old) }
    if !changes.isEmpty { try update(changes, id: id, old: old, in: entity) }
  }

  private func binding(of type: any Entity.Type) throws -> TypeBinding {
    if let binding = scratch.binding as? TypeBinding, binding.isOf(type, in: catalog) {
      return binding
    }
    let binding = try TypeBinding(type, in: catalog)
    scratch.binding = binding
    return binding
  }
}
