import EntityModel
import EntityStore

/// The properties and entities on which a request's result depends, derived from the paths that it
/// names.
///
/// Properties are numbered as in the change history: an attribute's id * 2, a relationship's id * 2
/// + 1.
struct Dependencies {
  /// The properties of the request's own entity that decide which records match, and in which
  /// order.
  private(set) var own: Set<Int> = []
  /// The properties of other entities by entity id. The own entity is included if a path leads back
  /// to it.
  private(set) var others: [Int: Set<Int>] = [:]
  /// The entities without a change history.
  private(set) var unrecorded: Set<String> = []
  let entityID: Int

  private let root: EntityLayout
  private let transaction: ReadTransaction

  /// Collects the dependencies of a request.
  ///
  /// - Parameter readsRows: True if the result is the rows themselves, false if it is their number.
  /// - Throws: The errors of binding the request.
  init(
    _ request: FetchRequest, sections: String? = nil, readsRows: Bool = false,
    of entity: EntityLayout, in transaction: ReadTransaction
  ) throws {
    root = entity
    entityID = entity.description.id
    self.transaction = transaction
    note(entity)
    if let predicate = request.predicate { try add(predicate, of: entity) }
    for path in request.propertiesToGroupBy { try add(path, of: entity) }
    for property in request.propertiesToFetch { try add(property.expression, of: entity) }
    if request.propertiesToFetch.isEmpty, !request.isGrouped, readsRows || request.countsRows {
      // The columns are all attributes.
      own.formUnion(entity.description.attributes.map { $0.id * 2 })
    }
    if let having = request.havingPredicate {
      for expression in having.expressions where expression.hasAggregate {
        try add(expression, of: entity)
      }
    }
    if !request.isGrouped {
      for key in request.sortBy { try add(key.path, of: entity) }
    }
    if let sections { try add(sections, of: entity) }
  }

  private mutating func add(_ predicate: FetchPredicate, of entity: EntityLayout) throws {
    switch predicate {
    case .always: return
    case .comparison(let comparison):
      try add(comparison.left, of: entity)
      try add(comparison.right, of: entity)
    case .exists(let path, let part): try add(part, of: try add(path, of: entity))
    case .and(let parts), .or(let parts): for part in parts { try add(part, of: entity) }
    case .not(let part): try add(part, of: entity)
    }
  }

  private mutating func add(_ expression: FetchExpression, of entity: EntityLayout) throws {
    switch expression {
    case .value, .object, .variable, .itself: return
    case .path(let path): try add(path, of: entity)
    case .collection(let path, _, let attribute):
      let end = try add(path, of: entity)
      if let attribute { try add(attribute, of: end) }
    case .aggregate(_, let part): if let part { try add(part, of: entity) }
    case .arithmetic(_, let left, let right):
      try add(left, of: entity)
      try add(right, of: entity)
    case .negative(let part): try add(part, of: entity)
    case .list(let parts): for part in parts { try add(part, of: entity) }
    }
  }

  /// Adds the properties of a path.
  ///
  /// - Returns: The entity at the end of the path.
  @discardableResult
  private mutating func add(_ text: String, of entity: EntityLayout) throws -> EntityLayout {
    let path = try BoundPath(text, of: entity, in: transaction)
    var current = entity
    for hop in path.allHops {
      add(hop.relationship, from: current, to: hop.destination)
      current = hop.destination
    }
    if case .attribute(let position) = path.end {
      add(current.description.attributes[position].id * 2, of: current)
    }
    return current
  }

  private mutating func add(
    _ relationship: RelationshipLayout, from source: EntityLayout, to destination: EntityLayout
  ) {
    note(destination)
    others[destination.description.id, default: []].formUnion([])
    func attributes(
      _ storage: RelationshipDescription.Storage, _ holder: EntityLayout, _ other: EntityLayout
    ) {
      switch storage {
      case .reference(let attribute, _): add(attribute * 2, of: holder)
      case .key(let pairs, _):
        for pair in pairs {
          add(pair.own * 2, of: holder)
          add(pair.other * 2, of: other)
        }
      case .inverse, .link: break
      }
    }
    switch relationship.description.storage {
    case .reference, .key: attributes(relationship.description.storage, source, destination)
    case .inverse: attributes(relationship.inverse.storage, destination, source)
    // Both ends of a link change with it; recording the near one is enough.
    case .link: add(relationship.description.id * 2 + 1, of: source)
    }
  }

  private mutating func add(_ property: Int, of entity: EntityLayout) {
    let id = entity.description.id
    if id == entityID { own.insert(property) }
    if others[id] != nil { others[id]?.insert(property) }
  }

  private mutating func note(_ entity: EntityLayout) {
    if !entity.history.isKept { unrecorded.insert(entity.name) }
  }
}
