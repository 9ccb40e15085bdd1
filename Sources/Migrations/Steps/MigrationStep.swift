public import EntityModel
package import StrictYAML

/// One change of the schema, or of the data with it. Names are those at that point of the line.
public enum MigrationStep: Hashable, Sendable {
  case createEntity(name: String, attributes: [AttributeDescription], keepsHistory: Bool)
  case renameEntity(name: String, newName: String)
  case dropEntity(name: String)
  case addAttribute(entity: String, AttributeDescription)
  case renameAttribute(entity: String, name: String, newName: String)
  case changeAttribute(AttributeChange)
  case retypeAttribute(AttributeRetyping)
  case deriveAttribute(AttributeDerivation)
  case dropAttribute(entity: String, name: String)
  case createIndex(entity: String, IndexDefinition)
  /// Gives an index of this name other keys or rules.
  case changeIndex(entity: String, IndexDefinition)
  case dropIndex(entity: String, name: String)
  case createRelationship(RelationshipDefinition)
  case changeRelationship(entity: String, name: String, deleteRule: DeleteRule)
  /// Drops its inverse, too.
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

/// What changes of an attribute that keeps its type; `nil` leaves it as it is.
public struct AttributeChange: Hashable, Sendable {
  public let entity: String
  public let name: String
  public var isOptional: Bool?
  /// What records without a value get, when the attribute ceases to be optional. A constant is as
  /// the file has it; `AttributeAssignment.fitted(to:)` makes a value of the attribute's kind of
  /// it.
  public var backfill: AttributeAssignment?
  /// Null takes the default away. As the file has it, too.
  public var defaultValue: Value?
  public var owner: AttributeOwner?
  public var rules = RuleChanges()
  /// All values of an enum, in the place of those that it has.
  public var enumeration: Enumeration?

  public init(entity: String, name: String) {
    self.entity = entity
    self.name = name
  }
}

/// What becomes of each rule of an attribute that keeps its type.
public struct RuleChanges: Hashable, Sendable {
  public enum Change<Rule: Hashable & Sendable>: Hashable, Sendable {
    case stays
    case goes
    case becomes(Rule)
  }
  /// As the file has it.
  public var min = Change<Value>.stays
  public var max = Change<Value>.stays
  public var maxLength = Change<Int>.stays
  public var pattern = Change<String>.stays

  public init() {}
}

/// Another type for an attribute, with what becomes of its values.
public struct AttributeRetyping: Hashable, Sendable {
  public let entity: String
  public let name: String
  public let type: AttributeType
  /// `nil` leaves it as it is, here and of the owner.
  public let isOptional: Bool?
  public let owner: AttributeOwner?
  /// Of the new type. The old default and the old rules go.
  public let defaultValue: Value
  public let validation: Validation
  public let conversion: Conversion

  /// The attribute as it is afterward.
  ///
  /// - Parameter old: As it is before.
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

/// A new attribute whose first values come from an expression over the others. It does not follow
/// them afterward.
public struct AttributeDerivation: Hashable, Sendable {
  public let entity: String
  public let attribute: AttributeDescription
  public let expression: FetchExpression
}

/// An index as a migration names it, before the catalog has given it an id.
public struct IndexDefinition: Hashable, Sendable {
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

/// What becomes of records that a new unique index finds equal.
public enum UniqueViolationRule: String, Hashable, Sendable, CaseIterable {
  /// The step is refused, and says which they are.
  case fail
  /// All but the record with the greatest object id are deleted.
  case keepNewest
  /// All but the record with the least object id are deleted.
  case keepOldest
  /// All but the one with the least object id are moved to the entity `_Quarantine`.
  case quarantine
}

/// What the history keeps of an entity from now on; `nil` leaves it as it is.
public struct HistorySetting: Hashable, Sendable {
  public let entity: String
  public let isKept: Bool?
  /// The attributes whose replaced values are kept, all of them.
  public let values: [String]?
}

/// Values for the records that match.
public struct RowUpdate: Hashable, Sendable {
  public let entity: String
  public let predicate: FetchPredicate?
  public let set: [String: AttributeAssignment]
}

/// How many records match, before anything that comes after.
public struct RowAssertion: Hashable, Sendable {
  public let entity: String
  public let predicate: FetchPredicate?
  /// The numbers that are right.
  public let count: ClosedRange<Int>
  /// Why, in the words of the author.
  public let message: String?
}

/// A file of another program that is taken over, as the mapping says: by what the program has for
/// that (`Store.Options.legacyImporter`).
public struct LegacyImportReference: Hashable, Sendable {
  /// What the file is called; where it is, the program says.
  public let source: String
  /// Whether there may be no such file.
  public let isOptional: Bool
  /// Read by the importer, against the schema of that point.
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

/// Code of the program that runs the migration, called once for each record.
public struct CodeReference: Hashable, Sendable {
  public let entity: String
  public let name: String
  public let revision: Int
  /// The attributes that it gives values to.
  public let changes: [String]
}
