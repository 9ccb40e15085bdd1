import EntityModel
import EntityStore
import TestSupport

/// Random changes that are applied both to a store and to its model.
struct RandomChanges: Sendable {
  var data: ModelData
  var random: SeededRandom

  /// Fills every entity, then links the records and deletes some, so that the identities have gaps.
  mutating func fill(in transaction: WriteTransaction) throws {
    for entity in data.entities {
      for _ in 0..<random.number(30...70) { try insert(entity, in: transaction) }
    }
    for entity in data.entities {
      for id in data.identities(entity.name) { try link(id, of: entity, in: transaction) }
    }
    for entity in data.entities {
      for _ in 0..<random.number(0...10) { try delete(of: entity, in: transaction) }
    }
  }

  /// Some changes of every kind.
  mutating func change(in transaction: WriteTransaction) throws {
    for _ in 0..<random.number(1...12) {
      let entity = random.pick(data.entities)
      let id = data.identities(entity.name).randomElement(using: &random)
      switch random.number(0...4) {
      case 0: try insert(entity, in: transaction)
      case 1: try delete(of: entity, in: transaction)
      case 2: if let id { try link(id, of: entity, in: transaction) }
      default: if let id { try update(id, of: entity, in: transaction) }
      }
    }
  }

  private mutating func insert(_ entity: ModelEntity, in transaction: WriteTransaction) throws {
    var record = ModelData.Record(values: [:])
    for attribute in entity.attributes { record.values[attribute.name] = value(attribute, entity) }
    guard let code = record.values["code"], isFree(code, in: entity, but: nil) else { return }
    for relationship in entity.relationships {
      if relationship.storage == .reference { record.values[relationship.name] = .null }
      if relationship.storage == .firstOfLink { record.links[relationship.name] = [] }
    }
    let id = try transaction.insert(entity.name, record.values).number
    data.put(entity.name, id, record)
  }

  private mutating func value(_ attribute: AttributeDescription, _ entity: ModelEntity) -> Value {
    if attribute.isOptional, random.oneIn(4) { return .null }
    return random.pick(entity.pools[attribute.name] ?? [.null])
  }

  private func isFree(_ code: Value, in entity: ModelEntity, but id: Int64?) -> Bool {
    code.isNull
      || !(data.records[entity.name] ?? [:]).contains {
        $0.key != id && $0.value.values["code"] == code
      }
  }

  private mutating func update(
    _ id: Int64, of entity: ModelEntity, in transaction: WriteTransaction
  ) throws {
    guard var record = data.record(entity.name, id) else { return }
    for _ in 0..<random.number(1...3) {
      let attribute = random.pick(entity.attributes)
      let value = value(attribute, entity)
      if attribute.name == "code", !isFree(value, in: entity, but: id) { continue }
      record.values[attribute.name] = value
    }
    try put(id, record, of: entity, in: transaction)
  }

  private mutating func link(
    _ id: Int64, of entity: ModelEntity, in transaction: WriteTransaction
  ) throws {
    guard var record = data.record(entity.name, id) else { return }
    for relationship in entity.relationships {
      let others = data.identities(relationship.destination)
      switch relationship.storage {
      case .reference:
        let isNull = others.isEmpty || random.oneIn(4)
        record.values[relationship.name] = isNull ? .null : .int64(random.pick(others))
      case .firstOfLink:
        let linked = others.shuffled(using: &random).prefix(random.number(0...3))
        record.links[relationship.name] = linked.sorted()
        try transaction.setRelated(
          ObjectID(entity: entity.name, number: id), relationship.name,
          to: linked.map { ObjectID(entity: relationship.destination, number: $0) })
      case .key, .inverse, .secondOfLink: break
      }
    }
    try put(id, record, of: entity, in: transaction)
  }

  private mutating func put(
    _ id: Int64, _ record: ModelData.Record, of entity: ModelEntity,
    in transaction: WriteTransaction
  ) throws {
    try transaction.update(ObjectID(entity: entity.name, number: id)) { stored in
      for (name, value) in record.values { try stored.set(name, to: value) }
    }
    data.put(entity.name, id, record)
  }

  private mutating func delete(of entity: ModelEntity, in transaction: WriteTransaction) throws {
    guard let id = data.identities(entity.name).randomElement(using: &random) else { return }
    try transaction.delete(ObjectID(entity: entity.name, number: id))
    data.remove(entity.name, id)
  }
}
