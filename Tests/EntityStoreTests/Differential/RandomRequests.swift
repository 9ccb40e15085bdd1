import EntityModel
import TestSupport

/// Generates valid requests over the whole fetch language.
struct RandomRequests {
  let data: ModelData
  var random: SeededRandom
  /// True if the next request uses only constructs that SQL has, too.
  var isPlain = false
  /// The number of `exists` around the next part of a predicate.
  var nesting = 0

  init(_ data: ModelData, random: SeededRandom) {
    self.data = data
    self.random = random
  }

  mutating func next() -> FetchRequest {
    isPlain = random.oneIn(2)
    let entity = random.pick(data.entities)
    switch random.number(0...9) {
    case 0...3: return indexed(entity)
    case 4...6: return grouped(entity)
    default: return free(entity)
    }
  }

  // MARK: Records

  private mutating func free(_ entity: ModelEntity) -> FetchRequest {
    var request = FetchRequest(entityName: entity.name)
    if !random.oneIn(8) { request.predicate = tree(entity, depth: random.number(0...3)) }
    if !random.oneIn(3) { request.sortBy = sortKeys(entity) }
    window(&request)
    result(&request, entity)
    return request
  }

  mutating func window(_ request: inout FetchRequest) {
    if random.oneIn(2) { request.fetchLimit = random.number(1...12) }
    if random.oneIn(3) { request.fetchOffset = random.oneIn(8) ? 10_000 : random.number(1...9) }
  }

  mutating func result(_ request: inout FetchRequest, _ entity: ModelEntity) {
    request.resultType = random.pick([.entities, .entities, .count, .identifiers, .rows, .rows])
    guard request.resultType == .rows else { return }
    request.returnsDistinctResults = random.oneIn(2)
    if !isPlain, random.oneIn(6) { return }
    for number in 1...random.number(1...4) {
      let column = column(entity, "c\(number)")
      // Every column has a name of its own.
      if request.propertiesToFetch.contains(where: { $0.name == column.name }) { continue }
      request.propertiesToFetch.append(column)
    }
  }

  private mutating func column(_ entity: ModelEntity, _ name: String) -> FetchProperty {
    switch random.number(0...8) {
    case 0:
      if let relationship = toOne(entity) { return .path(relationship) }
    case 1: if let sum = arithmetic(entity) { return FetchProperty(name, sum.expression) }
    case 2:
      if !isPlain, let aggregate = collection(entity) {
        return FetchProperty(name, aggregate.expression)
      }
    default: break
    }
    let path = attribute(entity).path
    return random.oneIn(3) ? FetchProperty(name, .path(path)) : .path(path)
  }

  private mutating func sortKeys(_ entity: ModelEntity) -> [SortKey] {
    (0..<random.number(1...3)).map { _ in
      let found = attribute(entity)
      var key = SortKey(found.path, descending: random.oneIn(2))
      if !isPlain, found.attribute.type == .string, random.oneIn(2) {
        key.collation = collation()
      }
      return key
    }
  }

  mutating func collation() -> Collation {
    random.pick([.caseInsensitive, .localizedStandard, .localizedStandard("de")])
  }

  /// Returns the request for records, with other constants in the comparisons of an attribute that
  /// must hold for each.
  mutating func withOtherConstants(_ request: FetchRequest) -> FetchRequest {
    var request = request
    guard !request.isGrouped, let entity = data.entity(request.entityName) else { return request }
    request.resultType = .identifiers
    request.propertiesToFetch = []
    request.returnsDistinctResults = false
    let parts = (request.predicate?.conjuncts ?? []).map { part -> FetchPredicate in
      guard case .comparison(var comparison) = part, comparison.quantifier == nil,
        case .path(let path) = comparison.left, case .value = comparison.right,
        Self.orders.contains(comparison.comparison),
        let attribute = entity.attribute(path), attribute.type != .strings
      else { return part }
      let found = Found(path: path, attribute: attribute, owner: entity)
      let constant = random.oneIn(16) ? .null : random.respelled(constant(found), attribute)
      comparison.right = .value(constant)
      return .comparison(comparison)
    }
    if !parts.isEmpty { request.predicate = .and(parts) }
    return request
  }

  // MARK: Names

  struct Found {
    var path: String
    var attribute: AttributeDescription
    var owner: ModelEntity
  }

  /// An attribute of the entity, or of one that to-one relationships reach.
  mutating func attribute(
    _ entity: ModelEntity, where isWanted: (AttributeDescription) -> Bool = { _ in true }
  ) -> Found {
    find(entity, where: isWanted)
      ?? Found(path: "rank", attribute: entity.attributes[2], owner: entity)
  }

  mutating func find(
    _ entity: ModelEntity, where isWanted: (AttributeDescription) -> Bool
  ) -> Found? {
    var (prefix, owner) = ("", entity)
    var hops = 0
    while hops < 3, random.oneIn(3), let name = toOne(owner),
      let next = owner.relationship(name).flatMap({ data.entity($0.destination) })
    {
      prefix += name + "."
      owner = next
      hops += 1
    }
    let choices = owner.attributes.filter { attribute in
      (!isPlain || ![.decimal, .strings].contains(attribute.type)) && isWanted(attribute)
    }
    if choices.isEmpty { return nil }
    let attribute = random.pick(choices)
    return Found(path: prefix + attribute.name, attribute: attribute, owner: owner)
  }

  mutating func toOne(_ entity: ModelEntity) -> String? {
    let choices = entity.relationships.filter { !$0.isToMany }
    return choices.isEmpty ? nil : random.pick(choices).name
  }

  /// A path that ends at a to-many relationship, and the entity there.
  mutating func toMany(_ entity: ModelEntity) -> (path: String, entity: ModelEntity)? {
    var (prefix, owner) = ("", entity)
    if random.oneIn(4), let name = toOne(owner),
      let next = owner.relationship(name).flatMap({ data.entity($0.destination) })
    {
      (prefix, owner) = (name + ".", next)
    }
    let choices = owner.relationships.filter(\.isToMany)
    if choices.isEmpty { return nil }
    let relationship = random.pick(choices)
    return data.entity(relationship.destination).map { (prefix + relationship.name, $0) }
  }

  /// A value to compare an attribute with, half of the time one that some record has.
  mutating func constant(_ found: Found) -> Value {
    if random.oneIn(2), let id = data.identities(found.owner.name).randomElement(using: &random),
      let value = data.record(found.owner.name, id)?.values[found.attribute.name], !value.isNull
    {
      return value
    }
    return random.pick(found.owner.pools[found.attribute.name] ?? [0])
  }
}
