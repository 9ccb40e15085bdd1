import EntityModel
import EntityStore
import Migrations

/// Assembles a mapping and a migration from the guesses. It assigns free names and mentions every
/// table and column of the source.
struct SuggestionAssembly {
  private let guesses: [TableGuess]
  private var entityNames: [String: String] = [:]
  /// The names that each entity uses for attributes and relationships, which share one namespace.
  private var propertyNames: [String: TargetNames] = [:]
  private var mapping: ImportMapping
  private var entitySteps: [MigrationStep] = []
  private var indexSteps: [MigrationStep] = []
  private var relationshipSteps: [MigrationStep] = []

  /// - Parameter mapping: Has everything but the entities and what belongs to them.
  static func suggestion(
    of guesses: [TableGuess], into mapping: ImportMapping, warnings: [String]
  ) -> SuggestedImport {
    var assembly = SuggestionAssembly(guesses: guesses, mapping: mapping)
    assembly.nameEntities()
    for guess in guesses { assembly.addEntity(guess) }
    for (number, guess) in guesses.enumerated() { assembly.addRelationships(guess, number) }
    return SuggestedImport(
      mapping: assembly.mapping,
      steps: assembly.entitySteps + assembly.indexSteps + assembly.relationshipSteps,
      warnings: warnings + guesses.flatMap(\.warnings))
  }

  private mutating func nameEntities() {
    var names = TargetNames()
    for guess in guesses {
      entityNames[guess.table.name] = names.free(guess.entity, otherwise: "Table")
    }
  }

  // MARK: Entities

  private mutating func addEntity(_ guess: TableGuess) {
    guard let name = entityNames[guess.table.name] else { return }
    var entity = EntityMapping(entity: name, table: guess.table.name, key: guess.key)
    entity.evidence = guess.evidence
    // The column of a reference that is not confirmed stays an attribute as well.
    let references = Set(guess.references.filter { $0.unconfirmed == nil }.flatMap(\.columns))
      .subtracting(guess.key)
    var names = TargetNames()
    var attributes: [AttributeDescription] = []
    for column in guess.columns where !references.contains(column.column) {
      let isNameOfReference = guess.references.contains { reference in
        reference.columns == [column.column] && reference.name == column.name
      }
      let attribute = names.free(
        isNameOfReference ? column.name + "Key" : column.name, otherwise: "column")
      attributes.append(
        AttributeDescription(
          name: attribute, type: column.type, isOptional: column.isOptional, owner: .local))
      entity.attributes.append(
        AttributeMapping(
          attribute: attribute, type: column.type, source: .column(column.column),
          conversion: column.conversion, evidence: column.evidence,
          unconfirmed: column.unconfirmed))
      addIndex(on: column, attribute, of: guess, &entity)
    }
    propertyNames[name] = names
    entitySteps.append(.createEntity(name: name, attributes: attributes, keepsHistory: true))
    if !guess.skippedColumns.isEmpty {
      mapping.skippedColumns[guess.table.name] = guess.skippedColumns
    }
    mapping.entities.append(entity)
  }

  private mutating func addIndex(
    on column: ColumnGuess, _ attribute: String, of guess: TableGuess, _ entity: inout EntityMapping
  ) {
    let isNaturalKey = guess.naturalKey?.column == column.column
    guard isNaturalKey || column.type == .date else { return }
    let name = "by" + attribute.prefix(1).uppercased() + attribute.dropFirst().prefix(60)
    let index = IndexDefinition(
      name: name, keys: [.init(attribute: attribute)], isUnique: isNaturalKey,
      isSparse: isNaturalKey && column.isOptional)
    indexSteps.append(.createIndex(entity: entity.entity, index))
    if isNaturalKey { entity.match = [attribute] }
  }

  // MARK: Relationships

  private mutating func addRelationships(_ guess: TableGuess, _ number: Int) {
    guard let entity = entityNames[guess.table.name] else { return }
    for reference in guess.references {
      guard let destination = entityNames[reference.target] else { continue }
      let name = propertyNames[entity, default: TargetNames()]
        .free(reference.name, otherwise: "link")
      let targets = guess.references.filter { $0.target == reference.target }
      let isOneOfSeveral = targets.count > 1 && reference.inverse != "children"
      let inverse = propertyNames[destination, default: TargetNames()].free(
        isOneOfSeveral
          ? reference.inverse + "By" + reference.name.prefix(1).uppercased()
            + reference.name.dropFirst()
          : reference.inverse, otherwise: "links")
      mapping.entities[number].relationships.append(
        RelationshipMapping(
          relationship: name, source: .columns(reference.columns), table: reference.target,
          orphan: reference.orphan, evidence: reference.evidence,
          unconfirmed: reference.unconfirmed))
      relationshipSteps.append(
        .createRelationship(
          RelationshipDefinition(
            entity: entity, destination: destination, side: .init(name: name),
            inverse: .init(name: inverse, isToMany: true))))
    }
  }
}
