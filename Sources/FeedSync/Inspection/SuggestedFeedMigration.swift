import EntityModel
import EntityStore
import Migrations

/// Writes the migration that creates the attributes of a suggested mapping.
enum SuggestedFeedMigration {
  /// - Parameter lines: The existing migrations.
  /// - Returns: The text of the file; nil if the entity has all attributes.
  static func text(
    line: String, entity: String, attributes: [SuggestedFeedMapping.Attribute],
    beside lines: [MigrationLine], schema: Schema
  ) -> String? {
    let new = attributes.compactMap { attribute in
      attribute.newType.map {
        AttributeDescription(name: attribute.name, type: $0, isOptional: true)
      }
    }
    if schema.entity(named: entity) == nil {
      return MigrationText.yaml(
        of: creation(of: entity, new), line: line, summary: "What \(line) is synced to")
    }
    if new.isEmpty { return nil }
    return MigrationText.yaml(
      of: new.map { .addAttribute(entity: entity, $0) }, line: line,
      summary: "What \(line) has beyond the attributes of \(entity)",
      requires: requirement(of: entity, in: lines).map { [$0] } ?? [])
  }

  /// Returns the steps that create the entity with all that a sync needs.
  private static func creation(
    of entity: String, _ attributes: [AttributeDescription]
  ) -> [MigrationStep] {
    let own = [
      AttributeDescription(
        name: "id", type: .string, validation: Validation(maxLength: FeedTarget.idLengthMax)),
      AttributeDescription(name: "updatedAt", type: .date, isOptional: true),
    ]
    let ofSync = ["feedID", "feedRevision", "feedHash"].map {
      AttributeDescription(name: $0, type: .int64, isOptional: true)
    }
    let byID = IndexDefinition(
      name: "byID", keys: [.init(attribute: "id"), .init(attribute: "feedID")], isUnique: true)
    let byUpdate = IndexDefinition(
      name: "byUpdate", keys: [.init(attribute: "updatedAt", isDescending: true)])
    return [
      .createEntity(name: entity, attributes: own + attributes + ofSync, keepsHistory: true),
      .createIndex(entity: entity, byID), .createIndex(entity: entity, byUpdate),
    ]
  }

  /// Returns the migration that creates the entity, which must come first.
  private static func requirement(
    of entity: String, in lines: [MigrationLine]
  ) -> Migration.Requirement? {
    for migration in lines.flatMap(\.migrations) {
      for case .createEntity(let name, _, _) in migration.steps where name == entity {
        return Migration.Requirement(line: migration.line, version: migration.version)
      }
    }
    return nil
  }
}
