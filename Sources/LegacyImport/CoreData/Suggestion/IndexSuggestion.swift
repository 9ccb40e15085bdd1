import EntityModel
import EntityStore
import Migrations

/// Proposes unique indexes for the unique constraints of a model.
struct IndexSuggestion {
  let model: ManagedObjectModel
  private(set) var steps: [MigrationStep] = []
  private(set) var warnings: [String] = []

  mutating func add(for target: ImportTarget) {
    var names = UniqueNames()
    var done: Set<[String]> = []
    for member in target.members {
      for entity in model.lineage(of: member.entity.name).reversed() {
        for constraint in entity.uniqueConstraints {
          guard let keys = keys(of: constraint, entity, target), done.insert(keys).inserted else {
            continue
          }
          let isSparse = target.attributes.contains { keys.contains($0.name) && $0.isOptional }
          let words = keys.map { $0.prefix(1).uppercased() + $0.dropFirst() }
          let name = names.claim("by" + words.joined(separator: "And"), otherwise: "unique")
          steps.append(
            .createIndex(
              entity: target.name,
              IndexDefinition(
                name: name, keys: keys.map { .init(attribute: $0) }, isUnique: true,
                isSparse: isSparse)))
        }
      }
    }
  }

  /// Returns the attributes of a constraint in the store; `nil` if the store cannot enforce it.
  private mutating func keys(
    of constraint: [String], _ entity: ManagedObjectModel.Entity, _ target: ImportTarget
  ) -> [String]? {
    let text = "the unique constraint \(constraint.joined(separator: ", ")) of \(entity.name)"
    let lineage = model.lineage(of: entity.name)
    let keys = constraint.compactMap { name in
      lineage.lazy.compactMap { target.attributeNames[.init($0.name, name)] }.first
    }
    guard keys.count == constraint.count, (1...8).contains(keys.count),
      Set(keys).count == keys.count
    else {
      warn(text + " is left out: not all of it is an attribute")
      return nil
    }
    let covered = Set(model.subtree(of: entity.name).map(\.name))
    let others = target.members.filter { member in
      !covered.contains(member.entity.name)
        && keys.contains { key in member.attributes.contains { $0.attribute == key } }
    }
    guard others.isEmpty else {
      warn(text + " is left out: it does not hold for \(others[0].entity.name)")
      return nil
    }
    return keys
  }

  private mutating func warn(_ text: String) {
    if !warnings.contains(text) { warnings.append(text) }
  }
}
