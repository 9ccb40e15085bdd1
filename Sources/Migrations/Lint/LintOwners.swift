import EntityModel
import EntityStore

/// The migration that has created each name of the current schema.
struct LintOwners {
  struct Owner: Hashable {
    let line: String
    let version: Int
    let migration: String
    /// True if the migration was applied to the store; false if it exists only as a file.
    let isApplied: Bool
  }

  private var owners: [SchemaName: Owner] = [:]

  /// Collects the owners from the applied migrations, by their files where these are known, and
  /// from the given migrations.
  init(_ history: [AppliedMigration], _ migrations: [Migration]) {
    for entry in history {
      let owner = Owner(
        line: entry.line, version: entry.version, migration: entry.name, isApplied: true)
      let file = migrations.first { $0.line == entry.line && $0.checksum == entry.checksum }
      guard let file else {
        note(entry.creates ?? [], by: owner)
        continue
      }
      for step in file.steps { note(step, by: owner) }
    }
  }

  subscript(name: SchemaName) -> Owner? { owners[name] }

  mutating func note(_ step: MigrationStep, by owner: Owner) {
    switch step {
    case .renameEntity(let name, let newName): renameEntity(name, to: newName)
    case .dropEntity(let name): removeEntity(name)
    case .renameAttribute(let entity, let name, let newName):
      owners[.property(entity, newName)] = owners.removeValue(forKey: .property(entity, name))
    case .dropAttribute(let entity, let name), .dropRelationship(let entity, let name):
      owners[.property(entity, name)] = nil
    case .dropIndex(let entity, let name): owners[.index(entity, name)] = nil
    case .dropTemplate(let name): owners[.template(name)] = nil
    case .addAttribute(let entity, let attribute, ifMissing: true)
    where owners[.property(entity, attribute.name)] != nil:
      return
    default: break
    }
    // From now on, a name that the step has changed belongs to the migration that has chosen it.
    for name in step.makes { owners[name] = owner }
  }

  /// Records the owner of names. The history contains the names only, and not the entities they
  /// belong to.
  private mutating func note(_ names: [String], by owner: Owner) {
    for name in names {
      let kinds: [SchemaName.Kind] =
        name.contains(".") ? [.property, .index] : [.entity, .template]
      for kind in kinds { owners[SchemaName(kind: kind, text: name)] = owner }
    }
  }

  private mutating func renameEntity(_ name: String, to newName: String) {
    for (key, owner) in members(of: name) {
      owners[key] = nil
      owners[SchemaName(kind: key.kind, text: newName + key.text.dropFirst(name.count))] = owner
    }
  }

  private mutating func removeEntity(_ name: String) {
    owners[.entity(name)] = nil
    for (key, _) in members(of: name) { owners[key] = nil }
  }

  private func members(of entity: String) -> [SchemaName: Owner] {
    owners.filter { $0.key.text.hasPrefix(entity + ".") }
  }
}
