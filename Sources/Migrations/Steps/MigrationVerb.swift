import EntityModel

/// The kinds of steps, by their names in files.
public enum MigrationVerb: String, Hashable, Sendable, CaseIterable {
  case createEntity, renameEntity, dropEntity
  case addAttribute, renameAttribute, changeAttribute, retypeAttribute, derive, dropAttribute
  case createIndex, changeIndex, dropIndex
  case createRelationship, changeRelationship, dropRelationship
  case createTemplate, dropTemplate
  case setHistory, retainHistory
  case updateRows, deleteRows, assert, runCode, importLegacy
}

extension MigrationStep {
  public var verb: MigrationVerb {
    switch self {
    case .createEntity: .createEntity
    case .renameEntity: .renameEntity
    case .dropEntity: .dropEntity
    case .addAttribute: .addAttribute
    case .renameAttribute: .renameAttribute
    case .changeAttribute: .changeAttribute
    case .retypeAttribute: .retypeAttribute
    case .deriveAttribute: .derive
    case .dropAttribute: .dropAttribute
    case .createIndex: .createIndex
    case .changeIndex: .changeIndex
    case .dropIndex: .dropIndex
    case .createRelationship: .createRelationship
    case .changeRelationship: .changeRelationship
    case .dropRelationship: .dropRelationship
    case .createTemplate: .createTemplate
    case .dropTemplate: .dropTemplate
    case .setHistory: .setHistory
    case .retainHistory: .retainHistory
    case .updateRows: .updateRows
    case .deleteRows: .deleteRows
    case .assert: .assert
    case .runCode: .runCode
    case .importLegacy: .importLegacy
    }
  }

  /// True if the step may lose values or records that cannot be restored. Such a step must have
  /// `destructive: true` in its file.
  public var isDestructive: Bool { loss != nil }

  /// A description of what the step may lose, as in "this loses …".
  var loss: String? {
    switch self {
    case .dropEntity(let name): "all records of \(name)"
    case .dropAttribute(let entity, let name): "all values of \(entity).\(name)"
    case .dropRelationship(let entity, let name): "all links of \(entity).\(name)"
    case .deleteRows(let entity, let predicate):
      predicate == nil ? "all records of \(entity)" : "the records of \(entity) that match"
    case .retypeAttribute(let retyping) where retyping.conversion.orElse != .refuse:
      "the values of \(retyping.entity).\(retyping.name) that cannot be converted"
    case .createIndex(let entity, let index), .changeIndex(let entity, let index):
      index.onViolation.deletes ? "the records of \(entity) that others are equal to" : nil
    default: nil
    }
  }
}

extension UniqueViolationRule {
  /// True if records are deleted and not stored elsewhere.
  fileprivate var deletes: Bool { self == .keepNewest || self == .keepOldest }
}
