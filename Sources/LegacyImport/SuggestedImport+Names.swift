import EntityModel
import Migrations

extension SuggestedImport {
  /// Gives each entity whose name is taken a free one: its name after the name of the import.
  ///
  /// - Parameter taken: The names that other entities of the store have.
  mutating func avoid(_ taken: Set<String>) {
    let own = Set(mapping.entities.map(\.entity))
    var free = TargetNames()
    for name in taken.union(own).sorted() { _ = free.free(name, otherwise: "Entity") }
    let prefix = NameWords(mapping.name).capitalizedCamelCase
    var names: [String: String] = [:]
    for name in own.intersection(taken).sorted() {
      let other = free.free(prefix + name, otherwise: "Import")
      names[name] = other
      warnings.append("there is an entity \(name) of another origin: this one is called \(other)")
    }
    if names.isEmpty { return }
    for place in mapping.entities.indices {
      guard let name = names[mapping.entities[place].entity] else { continue }
      mapping.entities[place].entity = name
    }
    steps = steps.map { $0.renamed(names) }
    formerNames.properties = Dictionary(
      formerNames.properties.map { (names[$0.key] ?? $0.key, $0.value) },
      uniquingKeysWith: { first, _ in first })
    formerNames.entities = Dictionary(
      formerNames.entities.map { (names[$0.key] ?? $0.key, $0.value) },
      uniquingKeysWith: { first, _ in first })
  }
}

extension MigrationStep {
  /// Returns the step with other names of entities, for a step that an inspection proposes.
  fileprivate func renamed(_ names: [String: String]) -> MigrationStep {
    func name(_ old: String) -> String { names[old] ?? old }
    return switch self {
    case .createEntity(let entity, let attributes, let keepsHistory):
      .createEntity(name: name(entity), attributes: attributes, keepsHistory: keepsHistory)
    case .createIndex(let entity, let index): .createIndex(entity: name(entity), index)
    case .createRelationship(let definition):
      .createRelationship(
        RelationshipDefinition(
          entity: name(definition.entity), destination: name(definition.destination),
          side: definition.side, inverse: definition.inverse, key: definition.key))
    default: self
    }
  }
}
