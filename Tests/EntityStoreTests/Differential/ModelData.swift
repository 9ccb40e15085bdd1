import EntityModel

/// Entities and what a store of them should hold: plain dictionaries.
struct ModelData: Sendable {
  struct Record: Sendable {
    /// The values by attribute name, and the stored links by relationship name (a number, or null).
    var values: [String: Value]
    /// The links by relationship name, for the first side of links that are to-many on both sides.
    var links: [String: [Int64]] = [:]
  }

  let entities: [ModelEntity]
  private(set) var records: [String: [Int64: Record]] = [:]
  /// The destinations by entity and relationship, then by record, in the order of ids.
  private(set) var targets: [String: [String: [Int64: [Int64]]]] = [:]

  init(entities: [ModelEntity]) {
    self.entities = entities
    for entity in entities { records[entity.name] = [:] }
  }

  func entity(_ name: String) -> ModelEntity? { entities.first { $0.name == name } }

  func identities(_ entity: String) -> [Int64] { (records[entity] ?? [:]).keys.sorted() }

  func record(_ entity: String, _ id: Int64) -> Record? { records[entity]?[id] }

  mutating func put(_ entity: String, _ id: Int64, _ record: Record) {
    records[entity]?[id] = record
  }

  /// Removes a record and every link to it, as the delete rule `nullify` does: where a record was
  /// found by a key, those that named the key name none any more.
  mutating func remove(_ entity: String, _ id: Int64) {
    guard let gone = records[entity]?.removeValue(forKey: id) else { return }
    for other in entities {
      for relationship in other.relationships where relationship.destination == entity {
        for (number, record) in records[other.name] ?? [:] {
          var changed = record
          if relationship.storage == .reference, record.values[relationship.name] == .int64(id) {
            changed.values[relationship.name] = .null
          }
          if case .key(let own, let other) = relationship.storage,
            let key = gone.values[other], !key.isNull, record.values[own] == key
          {
            changed.values[own] = .null
          }
          changed.links[relationship.name]?.removeAll { $0 == id }
          records[other.name]?[number] = changed
        }
      }
    }
  }

  /// Computes the destinations of the relationships. Call it after changes, before a fetch.
  mutating func connect() {
    targets = [:]
    for entity in entities {
      for relationship in entity.relationships { follow(relationship, of: entity.name) }
    }
    for entity in entities {
      for relationship in entity.relationships { followBack(relationship, of: entity.name) }
    }
  }

  private mutating func follow(_ relationship: ModelRelationship, of entity: String) {
    var found: [Int64: [Int64]] = [:]
    let others = records[relationship.destination] ?? [:]
    for (id, record) in records[entity] ?? [:] {
      switch relationship.storage {
      case .reference:
        if case .int64(let number)? = record.values[relationship.name], others[number] != nil {
          found[id] = [number]
        }
      case .key(let own, let other):
        guard let value = record.values[own], !value.isNull else { continue }
        if let number = others.first(where: { $0.value.values[other] == value })?.key {
          found[id] = [number]
        }
      case .firstOfLink: found[id] = (record.links[relationship.name] ?? []).sorted()
      case .inverse, .secondOfLink: return
      }
    }
    targets[entity, default: [:]][relationship.name] = found
  }

  private mutating func followBack(_ relationship: ModelRelationship, of entity: String) {
    switch relationship.storage {
    case .reference, .key, .firstOfLink: return
    case .inverse(let name), .secondOfLink(let name):
      var found: [Int64: [Int64]] = [:]
      for (id, others) in targets[relationship.destination]?[name] ?? [:] {
        for other in others { found[other, default: []].append(id) }
      }
      targets[entity, default: [:]][relationship.name] = found.mapValues { $0.sorted() }
    }
  }
}
