/// The schema of a store: what the catalog records (design: the catalog is the schema).
public struct Schema: Codable, Hashable, Sendable {
  public var entities: [EntityDescription]
  /// The ids that the next new entity and the next new index get; an id is never used again.
  public var nextEntityID = 1
  public var nextIndexID = 1
  public var nextRelationshipID = 1
  /// By name; each name once.
  public var templates: [RequestTemplate] = []
  public var historyRetention = HistoryRetention.standard

  public init(entities: [EntityDescription] = []) { self.entities = entities }

  /// What a catalog of an older version lacks is empty.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    entities = try container.decode([EntityDescription].self, forKey: .entities)
    nextEntityID = try container.decode(Int.self, forKey: .nextEntityID)
    nextIndexID = try container.decode(Int.self, forKey: .nextIndexID)
    nextRelationshipID =
      try container.decodeIfPresent(Int.self, forKey: .nextRelationshipID) ?? 1
    templates = try container.decodeIfPresent([RequestTemplate].self, forKey: .templates) ?? []
    historyRetention =
      try container.decodeIfPresent(HistoryRetention.self, forKey: .historyRetention) ?? .standard
  }

  public func entity(named name: String) -> EntityDescription? {
    entities.first { $0.name == name }
  }
}

/// One entity: its attributes, the record layouts of its past and its present, its indexes.
public struct EntityDescription: Codable, Hashable, Sendable {
  /// Assigned by the catalog, never used again.
  public var id: Int
  public var name: String
  /// In the order of the newest layout.
  public var attributes: [AttributeDescription]
  /// Layout version 1 is the first. A record names the version it was written in.
  public var layouts: [RecordShape]
  public var indexes: [IndexDescription]
  public var relationships: [RelationshipDescription]
  /// The id that the next new attribute gets.
  public var nextAttributeID: Int
  /// Whether what changes is written to the history; never of a system entity.
  public var keepsHistory: Bool

  public init(
    id: Int, name: String, attributes: [AttributeDescription], layouts: [RecordShape] = [],
    indexes: [IndexDescription] = [], relationships: [RelationshipDescription] = [],
    nextAttributeID: Int = 1, keepsHistory: Bool = true
  ) {
    self.id = id
    self.name = name
    self.attributes = attributes
    self.layouts = layouts
    self.indexes = indexes
    self.relationships = relationships
    self.nextAttributeID = nextAttributeID
    self.keepsHistory = keepsHistory && !name.hasPrefix("_")
  }

  /// What a catalog of an older version lacks is as `init` has it.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: try container.decode(Int.self, forKey: .id),
      name: try container.decode(String.self, forKey: .name),
      attributes: try container.decode([AttributeDescription].self, forKey: .attributes),
      layouts: try container.decode([RecordShape].self, forKey: .layouts),
      indexes: try container.decode([IndexDescription].self, forKey: .indexes),
      relationships: try container.decodeIfPresent(
        [RelationshipDescription].self, forKey: .relationships) ?? [],
      nextAttributeID: try container.decode(Int.self, forKey: .nextAttributeID),
      keepsHistory: try container.decodeIfPresent(Bool.self, forKey: .keepsHistory) ?? true)
  }

  public func attribute(named name: String) -> AttributeDescription? {
    attributes.first { $0.name == name }
  }

  public func index(named name: String) -> IndexDescription? {
    indexes.first { $0.name == name }
  }

  public func relationship(named name: String) -> RelationshipDescription? {
    relationships.first { $0.name == name }
  }

  /// System entities carry a leading underscore; migrations of other lines cannot make one.
  public var isSystem: Bool { name.hasPrefix("_") }
}

/// The attributes that records of one layout version hold, in slot order.
public struct RecordShape: Codable, Hashable, Sendable {
  public struct Slot: Codable, Hashable, Sendable {
    public var attributeID: Int
    public var kind: ValueKind

    public init(attributeID: Int, kind: ValueKind) {
      self.attributeID = attributeID
      self.kind = kind
    }
  }
  public var slots: [Slot]

  public init(slots: [Slot]) { self.slots = slots }
}

/// One secondary index.
public struct IndexDescription: Codable, Hashable, Sendable {
  /// Assigned by the catalog, never used again; names the index's tree with the generation.
  public var id: Int
  /// Grows when the index is built anew beside its old tree.
  public var generation: Int
  public var name: String
  public var keys: [IndexKey]
  /// No two records have equal keys. Null is a value like any other here; a unique index that
  /// should allow many records without a value is also sparse.
  public var isUnique: Bool
  /// A record is left out when any of the key attributes is null.
  public var isSparse: Bool
  /// The version of the collation that its keys were made with; `nil` if all of them are binary.
  /// With another version the index serves no fetch until it is rebuilt.
  public var collationVersion: String?

  public init(
    id: Int = 0, generation: Int = 1, name: String, keys: [IndexKey], isUnique: Bool = false,
    isSparse: Bool = false, collationVersion: String? = nil
  ) {
    self.id = id
    self.generation = generation
    self.name = name
    self.keys = keys
    self.isUnique = isUnique
    self.isSparse = isSparse
    self.collationVersion = collationVersion
  }
}

/// One part of an index key.
public struct IndexKey: Codable, Hashable, Sendable {
  public var attributeID: Int
  public var isDescending: Bool
  /// Other than binary only for attributes of the type string.
  public var collation: Collation

  public init(attributeID: Int, isDescending: Bool = false, collation: Collation = .binary) {
    self.attributeID = attributeID
    self.isDescending = isDescending
    self.collation = collation
  }

  /// What a catalog of an older version lacks is binary.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    attributeID = try container.decode(Int.self, forKey: .attributeID)
    isDescending = try container.decode(Bool.self, forKey: .isDescending)
    collation = try container.decodeIfPresent(Collation.self, forKey: .collation) ?? .binary
  }
}

extension EntityDescription {
  /// The index as a migration file writes it: `updatedAt desc, title localized`.
  public func keyText(of index: IndexDescription) -> String {
    index.keys.map { key in
      let name = attributes.first { $0.id == key.attributeID }?.name ?? "#\(key.attributeID)"
      let words = [
        name, key.collation == .binary ? nil : key.collation.text, key.isDescending ? "desc" : nil,
      ]
      return words.compactMap { $0 }.joined(separator: " ")
    }.joined(separator: ", ")
  }
}

/// A request with a name, made by a migration and kept in the catalog. Its predicate may hold
/// `$VARIABLES`.
public struct RequestTemplate: Codable, Hashable, Sendable {
  public var name: String
  public var request: FetchRequest

  public init(name: String, request: FetchRequest) {
    self.name = name
    self.request = request
  }
}
