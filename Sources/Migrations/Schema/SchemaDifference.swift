public import EntityModel
import EntityStore

/// The trees and attributes that one schema has and an earlier one of the same store does not.
struct SchemaDifference {
  struct NewIndex {
    let entity: EntityDescription
    let description: IndexDescription
    /// True if no record has an entry, so that no record need be read.
    let isEmpty: Bool
  }

  let indexes: [NewIndex]
  /// The attributes that every record must have and that no existing record has. Their entities
  /// must be empty.
  let required: [(entity: EntityDescription, attribute: AttributeDescription)]

  init(from old: Schema, to new: Schema) {
    var indexes: [NewIndex] = []
    var required: [(entity: EntityDescription, attribute: AttributeDescription)] = []
    for number in new.entities.indices {
      let place = old.place(ofEntity: new.entities[number].id, near: number)
      if let place, old.entities[place].attributes == new.entities[number].attributes,
        old.entities[place].indexes == new.entities[number].indexes
      {
        continue
      }
      let entity = new.entities[number]
      let before = place.map { old.entities[$0] }
      let known = Set(before?.indexes.map(EntityLayout.treeName) ?? [])
      let knownAttributes = Set(before?.attributes.map(\.id) ?? [])
      let added = entity.attributes.filter {
        !knownAttributes.contains($0.id) && $0.defaultValue.isNull
      }
      for index in entity.indexes where !known.contains(EntityLayout.treeName(of: index)) {
        let isEmpty =
          before == nil
          || index.isSparse
            && index.keys.contains { key in added.contains { $0.id == key.attributeID } }
        indexes.append(NewIndex(entity: entity, description: index, isEmpty: isEmpty))
      }
      if before != nil {
        required += added.filter { !$0.isOptional }.map { (entity, $0) }
      }
    }
    self.indexes = indexes
    self.required = required
  }
}

extension Schema {
  /// Returns the place of an entity by its id.
  ///
  /// - Parameter number: Its place in another schema of the same store. A step seldom moves an
  ///   entity, and a search for each of thousands of entities in each of thousands of steps would
  ///   take minutes.
  func place(ofEntity id: Int, near number: Int) -> Int? {
    if number < entities.count, entities[number].id == id { return number }
    return entities.firstIndex { $0.id == id }
  }

  /// Creates the schema of a store to which all migrations of these lines, and those of the line
  /// `system`, have been applied.
  ///
  /// - Throws: `migration` for a step that does not fit, or a requirement that is missing.
  public init(of lines: [MigrationLine]) throws {
    let state = MigrationState(lines: try MigrationLine.load([.system]) + lines, history: [])
    try state.checkApplicable()
    var change = SchemaChange(schema: Schema())
    for migration in state.pending {
      for step in migration.steps { try change.apply(step, of: migration) }
    }
    self = change.schema
  }
}
