/// The schema of a store, as its catalog describes it.
public struct Schema: Codable, Hashable, Sendable {
  public var entities: [EntityDescription]
  /// The ids that the next new entity and the next new index get; an id is never used again.
  public var nextEntityID = 1
  public var nextIndexID = 1
  public var nextRelationshipID = 1
  /// The templates in the order of their names; each name occurs once.
  public var templates: [RequestTemplate] = []
  public var historyRetention = HistoryRetention.standard
  /// The first transaction of the change history that has seals. From it on, new entities have
  /// seals as well; `nil` in a store without seals.
  public var sealedHistorySince: Int64?

  public init(entities: [EntityDescription] = []) { self.entities = entities }

  /// Reads a schema. A list that an older catalog lacks is empty.
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
    sealedHistorySince =
      try container.decodeIfPresent(Int64.self, forKey: .sealedHistorySince)
  }

  /// True if what is written has seals, by which damage is found.
  public var isSealed: Bool { sealedHistorySince != nil }

  /// Returns the entity with a name; `nil` if there is none.
  public func entity(named name: String) -> EntityDescription? {
    entities.first { $0.name == name }
  }
}

/// One entity: its attributes, its former and current record layouts, its indexes.
public struct EntityDescription: Codable, Hashable, Sendable {
  /// The id that the catalog has assigned; it is never used again.
  public var id: Int
  public var name: String
  /// The attributes in the order of the newest layout.
  public var attributes: [AttributeDescription]
  /// The layouts; version 1 is the first. Each row contains the version in which it was written.
  public var layouts: [RecordShape]
  public var indexes: [IndexDescription]
  public var relationships: [RelationshipDescription]
  /// The id that the next new attribute gets.
  public var nextAttributeID: Int
  /// True if changes are written to the change history; always false for a system entity.
  public var keepsHistory: Bool
  /// The seals of its records; `nil` if they have none.
  public var seals: RecordSeals?

  public init(
    id: Int, name: String, attributes: [AttributeDescription], layouts: [RecordShape] = [],
    indexes: [IndexDescription] = [], relationships: [RelationshipDescription] = [],
    nextAttributeID: Int = 1, keepsHistory: Bool = true, seals: RecordSeals? = nil
  ) {
    self.id = id
    self.name = name
    self.attributes = attributes
    self.layouts = layouts
    self.indexes = indexes
    self.relationships = relationships
    self.nextAttributeID = nextAttributeID
    self.keepsHistory = keepsHistory && !name.hasPrefix("_")
    self.seals = seals
  }

  /// Reads an entity. A member that an older catalog lacks has the default of `init`.
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
      keepsHistory: try container.decodeIfPresent(Bool.self, forKey: .keepsHistory) ?? true,
      seals: try container.decodeIfPresent(RecordSeals.self, forKey: .seals))
  }

  /// Returns the attribute with a name; `nil` if there is none.
  public func attribute(named name: String) -> AttributeDescription? {
    attributes.first { $0.name == name }
  }

  /// Returns the index with a name; `nil` if there is none.
  public func index(named name: String) -> IndexDescription? {
    indexes.first { $0.name == name }
  }

  /// Returns the relationship with a name; `nil` if there is none.
  public func relationship(named name: String) -> RelationshipDescription? {
    relationships.first { $0.name == name }
  }

  /// True for a system entity, whose name begins with an underscore. Migrations of other lines
  /// cannot create one.
  public var isSystem: Bool { name.hasPrefix("_") }
}

/// Which records of an entity end in a seal: a hash by which damage is found.
public struct RecordSeals: Codable, Hashable, Sendable {
  /// The first layout version whose records have one.
  public var since: Int
  /// True if every record has one. A record of an earlier layout version is then damaged.
  public var isComplete: Bool

  public init(since: Int, isComplete: Bool) {
    self.since = since
    self.isComplete = isComplete
  }
}

/// The attributes that records of one layout version hold, in slot order.
public struct RecordShape: Codable, Hashable, Sendable {
  /// The place of one attribute in a row.
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
  /// The id that the catalog has assigned; it is never used again. Together with the generation it
  /// names the index's tree.
  public var id: Int
  /// A number that increases when the index is built again, while its old tree still exists.
  public var generation: Int
  public var name: String
  public var keys: [IndexKey]
  /// True if no two records may have equal keys. Null counts as a value here; a unique index that
  /// allows many records without a value must also be sparse.
  public var isUnique: Bool
  /// True if a record is left out when any of the key attributes is null.
  public var isSparse: Bool
  /// The version of the collation with which its keys were created; `nil` if all of them are
  /// binary. If the system's version differs, the index serves no fetch until it is rebuilt.
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
  /// The collation of the key. Other than binary only for attributes of the type string.
  public var collation: Collation

  public init(attributeID: Int, isDescending: Bool = false, collation: Collation = .binary) {
    self.attributeID = attributeID
    self.isDescending = isDescending
    self.collation = collation
  }

  /// Reads an index key. The collation that an older catalog lacks is binary.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    attributeID = try container.decode(Int.self, forKey: .attributeID)
    isDescending = try container.decode(Bool.self, forKey: .isDescending)
    collation = try container.decodeIfPresent(Collation.self, forKey: .collation) ?? .binary
  }
}

extension EntityDescription {
  /// Returns the keys of the index as in a migration file: `updatedAt desc, title localized`.
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

/// A fetch request with a name, which a migration creates and the catalog stores. Its predicate may
/// contain `$VARIABLES`.
public struct RequestTemplate: Codable, Hashable, Sendable {
  public var name: String
  public var request: FetchRequest

  public init(name: String, request: FetchRequest) {
    self.name = name
    self.request = request
  }
}
