import EntityModel
import EntityStore

/// Steps of migrations while indexes are set aside that cannot be built.
///
/// The schema of such an entity is incomplete: a step could take the name of a deferred index, or
/// drop an attribute that it needs. So only steps on other entities run, and those that drop the
/// indexes: `dropIndex` and `dropEntity`.
extension SchemaTransaction {
  /// Takes the indexes that a step drops out of the list of deferred ones.
  ///
  /// - Returns: False if the step must wait until the other indexes have been built.
  func makesRoom(for step: MigrationStep) throws -> Bool {
    if deferred.isEmpty { return true }
    switch step {
    case .dropEntity(let name):
      guard let entity = schema.entity(named: name) else { return true }
      drop(deferred[entity.id].map(\.id), of: entity)
      return true
    case .dropIndex(let name, let index):
      guard let entity = schema.entity(named: name),
        let dropped = deferred[entity.id].first(where: { $0.name == index })
      else { return true }
      drop([dropped.id], of: entity)
      // The step finds the index in the schema, and drops it before it gets a tree.
      var schema = schema
      for number in schema.entities.indices where schema.entities[number].id == entity.id {
        schema.entities[number].put([dropped])
      }
      set(schema)
      return true
    default:
      let names = step.needs.filter { $0.kind == .entity }.map(\.text)
      return names.allSatisfy { name in
        schema.entity(named: name).map { deferred[$0.id].isEmpty } ?? true
      }
    }
  }

  private func drop(_ ids: [Int], of entity: EntityDescription) {
    var deferred = deferred
    deferred[entity.id].removeAll { ids.contains($0.id) }
    set(deferred)
  }
}

extension StoreError {
  /// The error of a step on an entity whose indexes are set aside while its migration is partly
  /// done.
  static func waitsForLoad(_ step: MigrationStep, _ migration: Migration) -> StoreError {
    StoreError(
      .migration, "a load has set aside indexes that the step needs",
      [("migration", "\(migration.line) \(migration.name)"), ("step", step.description)],
      advice: "drop these indexes or their entity in an earlier step")
  }
}
