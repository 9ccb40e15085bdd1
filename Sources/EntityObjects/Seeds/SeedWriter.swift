import EntityModel
import EntityStore

/// Writes the objects of a seed: first the records with the links that they require, then all other
/// links.
struct SeedWriter {
  private let plan: SeedPlan
  private let transaction: WriteTransaction
  private var labelled: [String: ObjectID] = [:]

  init(_ plan: SeedPlan, in transaction: WriteTransaction) {
    self.plan = plan
    self.transaction = transaction
  }

  /// Writes all objects.
  ///
  /// - Throws: The refusal of the store, with the place in the file.
  mutating func run() throws {
    var identities: [ObjectID] = []
    for object in plan.objects {
      let id = try placing(object.place) {
        try transaction.insert(object.entity.name, try values(of: object))
      }
      if let label = object.label { labelled[label] = id }
      identities.append(id)
    }
    for (object, id) in zip(plan.objects, identities) {
      for link in object.links where !link.relationship.isNeeded(by: object.entity) {
        try relate(id, link.relationship, link.targets, at: object.place)
      }
    }
  }

  /// Returns the values of an object, including the links that it requires.
  private func values(of object: SeedObject) throws -> [String: Value] {
    var values = object.values
    for link in object.links where link.relationship.isNeeded(by: object.entity) {
      for target in link.targets {
        let id = try identity(of: target)
        switch link.relationship.storage {
        case .reference(let attribute, _):
          values[try object.entity.name(of: attribute)] = .int64(id.number)
        case .key(let pairs, _):
          guard let record = try transaction.get(id) else { throw StoreError.missing(id) }
          for pair in pairs {
            values[try object.entity.name(of: pair.own)] =
              try record[try record.entity.name(of: pair.other)]
          }
        case .inverse, .link: break
        }
      }
    }
    return values
  }

  private func relate(
    _ id: ObjectID, _ relationship: RelationshipDescription, _ targets: [SeedTarget],
    at place: SeedPlace
  ) throws {
    let others = try targets.map { try identity(of: $0) }
    try placing(place) {
      if relationship.isToMany {
        try transaction.setRelated(id, relationship.name, to: others)
      } else {
        try transaction.setRelated(id, relationship.name, to: others.first)
      }
    }
  }

  private func identity(of target: SeedTarget) throws -> ObjectID {
    switch target.key {
    case .label(let label):
      if let id = labelled[label] { return id }
      throw StoreError.seed(
        at: target.place,
        "the object \"\(label)\" follows an object that requires it; move it before that one")
    case .attributes(let values):
      let found = try placing(target.place) {
        try transaction.objectID(target.entity, by: values)
      }
      if let found { return found }
      let text = values.keys.sorted().map { "\($0): \(values[$0, default: .null].text)" }
      throw StoreError.seed(
        at: target.place,
        "no record of \(target.entity) has \(text.joined(separator: ", ")), in the file or in the "
          + "store")
    }
  }

  private func placing<R>(_ place: SeedPlace, _ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as StoreError {
      throw error.ofSeed(at: place)
    }
  }
}

extension EntityDescription {
  fileprivate func name(of attribute: Int) throws(StoreError) -> String {
    if let found = attributes.first(where: { $0.id == attribute }) { return found.name }
    throw .damaged("a relationship names an unknown attribute", entity: name)
  }
}
