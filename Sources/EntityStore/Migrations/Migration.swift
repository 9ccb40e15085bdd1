public import EntityModel

/// One migration file, read and checked but not yet fitted to a store.
public struct Migration: Sendable {
  public let line: String
  /// The number that its file name begins with; 1 is the first of a line, and none is missing.
  public let version: Int
  /// The file name without its extension.
  public let name: String
  public let summary: String
  /// Versions of other lines that come first.
  public let requires: [Requirement]
  public let steps: [MigrationStep]
  /// Over the parsed tree: comments, spacing, quotes, key order and line endings do not count.
  public let checksum: String

  public struct Requirement: Hashable, Sendable {
    public let line: String
    public let version: Int
  }
}

/// One change of the schema. Names are those at that point of the line.
public enum MigrationStep: Hashable, Sendable {
  case createEntity(name: String, attributes: [AttributeDescription], keepsHistory: Bool)
  case addAttribute(entity: String, AttributeDescription)
  case createIndex(entity: String, IndexDefinition)
  case dropIndex(entity: String, name: String)
  case createRelationship(RelationshipDefinition)
  case createTemplate(RequestTemplate)
  case dropTemplate(name: String)
  case setHistory(HistorySetting)
  case retainHistory(HistoryRetention)
}

/// What the history keeps of an entity from now on; `nil` leaves it as it is.
public struct HistorySetting: Hashable, Sendable {
  public let entity: String
  public let isKept: Bool?
  /// The attributes whose replaced values are kept, all of them.
  public let values: [String]?
}

/// An index as a migration names it, before the catalog has given it an id.
public struct IndexDefinition: Hashable, Sendable {
  public struct Key: Hashable, Sendable {
    public let attribute: String
    public let isDescending: Bool
    public let collation: Collation
  }
  public let name: String
  public let keys: [Key]
  public let isUnique: Bool
  public let isSparse: Bool
}

/// The name of a store's own line and the prefix of the lines of other modules' system entities.
extension Migration {
  public var isOfSystem: Bool { line == "system" || line.hasPrefix("system.") }
}
