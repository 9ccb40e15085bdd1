public import EntityModel
package import StrictYAML

/// One change of the schema, or of the data with it. Names are those at that point of the line.
public enum MigrationStep: Hashable, Sendable {
  case createEntity(name: String, attributes: [AttributeDescription], keepsHistory: Bool)
  case renameEntity(name: String, newName: String)
  case dropEntity(name: String)
  /// Adds an attribute.
  ///
  /// - ifMissing: True to leave an attribute or a relationship of this name as it is.
  case addAttribute(entity: String, AttributeDescription, ifMissing: Bool = false)
  case renameAttribute(entity: String, name: String, newName: String)
  case changeAttribute(AttributeChange)
  case retypeAttribute(AttributeRetyping)
  case deriveAttribute(AttributeDerivation)
  case dropAttribute(entity: String, name: String)
  case createIndex(entity: String, IndexDefinition)
  /// Gives other keys or rules to the index of this name.
  case changeIndex(entity: String, IndexDefinition)
  case dropIndex(entity: String, name: String)
  case createRelationship(RelationshipDefinition)
  case changeRelationship(entity: String, name: String, deleteRule: DeleteRule)
  /// Drops the relationship and its inverse.
  case dropRelationship(entity: String, name: String)
  case createTemplate(RequestTemplate)
  case dropTemplate(name: String)
  case setHistory(HistorySetting)
  case retainHistory(HistoryRetention)
  case updateRows(RowUpdate)
  case deleteRows(entity: String, FetchPredicate?)
  case assert(RowAssertion)
  case runCode(CodeReference)
  case importLegacy(LegacyImportReference)
}

/// The changes of an attribute that keeps its type; `nil` leaves a property as it is.
public struct AttributeChange: Hashable, Sendable {
  public let entity: String
  public let name: String
  public var isOptional: Bool?
  /// The value for records without one, when the attribute becomes required. A constant has the
  /// form that it has in the file; `AttributeAssignment.fitted(to:)` converts it to the attribute's
  /// kind.
  public var backfill: AttributeAssignment?
  /// The new default, in the form that it has in the file. Null removes the default.
  public var defaultValue: Value?
  public var owner: AttributeOwner?
  public var rules = RuleChanges()
  /// All values of an enumeration. They replace the existing ones.
  public var enumeration: Enumeration?

  public init(entity: String, name: String) {
    self.entity = entity
    self.name = name
  }
}

/// The changes of each rule of an attribute that keeps its type.
public struct RuleChanges: Hashable, Sendable {
  /// A change of one rule.
  public enum Change<Rule: Hashable & Sendable>: Hashable, Sendable {
    case stays
    case goes
    case becomes(Rule)
  }
  /// The minimum, in the form that it has in the file.
  public var min = Change<Value>.stays
  public var max = Change<Value>.stays
  public var maxLength = Change<Int>.stays
  public var pattern = Change<String>.stays

  public init() {}
}

/// A change of an attribute's type, with the conversion of its values.
public struct AttributeRetyping: Hashable, Sendable {
  public let entity: String
  public let name: String
  public let type: AttributeType
  /// The new optionality; `nil` leaves it as it is. The same holds for the owner.
  public let isOptional: Bool?
  public let owner: AttributeOwner?
  /// The default, a value of the new type. The old default and the old rules are removed.
  public let defaultValue: Value
  public let validation: Validation
  public let conversion: Conversion

  /// Returns the attribute after the step.
  ///
  /// - Parameter old: The attribute before the step.
  public func attribute(from old: AttributeDescription) -> AttributeDescription {
    var attribute = old
    attribute.type = type
    attribute.isOptional = isOptional ?? old.isOptional
    attribute.owner = owner ?? old.owner
    attribute.defaultValue = defaultValue
    attribute.validation = validation
    return attribute
  }
}

/// A new attribute whose first values are computed by an expression over the others. It does not
/// follow them afterward.
public struct AttributeDerivation: Hashable, Sendable {
  public let entity: String
  public let attribute: AttributeDescription
  public let expression: FetchExpression
}

/// An index as a migration names it, before the catalog has given it an id.
public struct IndexDefinition: Hashable, Sendable {
  /// One part of the index key.
  public struct Key: Hashable, Sendable {
    public let attribute: String
    public let isDescending: Bool
    public let collation: Collation

    package init(attribute: String, isDescending: Bool = false, collation: Collation = .binary) {
      self.attribute = attribute
      self.isDescending = isDescending
      self.collation = collation
    }
  }
  public let name: String
  public let keys: [Key]
  public let isUnique: Bool
  public let isSparse: Bool
  public var onViolation: UniqueViolationRule

  package init(
    name: String, keys: [Key], isUnique: Bool = false, isSparse: Bool = false,
    onViolation: UniqueViolationRule = .fail
  ) {
    self.name = name
    self.keys = keys
    self.isUnique = isUnique
    self.isSparse = isSparse
    self.onViolation = onViolation
  }
}

/// The treatment of records that have equal values in a new unique index.
public enum UniqueViolationRule: String, Hashable, Sendable, CaseIterable {
  /// The step is refused with an error that names the records.
  case fail
  /// All but the record with the greatest id are deleted.
  case keepNewest
  /// All but the record with the least id are deleted.
  case keepOldest
  /// All but the record with the least id are moved to the entity `_Quarantine`.
  case quarantine
}

/// The settings of the change history for an entity; `nil` leaves a setting as it is.
public struct HistorySetting: Hashable, Sendable {
  public let entity: String
  public let isKept: Bool?
  /// All attributes whose replaced values the history keeps.
  public let values: [String]?
}

/// Values for the records that match.
public struct RowUpdate: Hashable, Sendable {
  public let entity: String
  public let predicate: FetchPredicate?
  public let set: [String: AttributeAssignment]
}

/// A condition on the number of records that match, checked before the steps that follow.
public struct RowAssertion: Hashable, Sendable {
  public let entity: String
  public let predicate: FetchPredicate?
  /// The counts that satisfy the condition.
  public let count: ClosedRange<Int>
  /// The reason for the condition, as the author has written it.
  public let message: String?
}

/// A file of another program that is imported as the mapping describes, by the program's importer
/// (`Store.Options.legacyImporter`).
public struct LegacyImportReference: Hashable, Sendable {
  /// The name of the file. The program decides where the file is.
  public let source: String
  /// True if the file may be missing.
  public let isOptional: Bool
  /// The mapping. The importer parses it with the schema at that point.
  package let mapping: YAMLNode

  public static func == (left: Self, right: Self) -> Bool {
    left.source == right.source && left.isOptional == right.isOptional
      && left.mapping.canonical == right.mapping.canonical
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(source)
    hasher.combine(isOptional)
    hasher.combine(mapping.canonical)
  }
}

/// A reference to code of the program that runs the migration, called once for each record.
public struct CodeReference: Hashable, Sendable {
  public let entity: String
  public let name: String
  public let revision: Int
  /// The attributes that it gives values to.
  public let changes: [String]
}
