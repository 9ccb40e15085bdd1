import EntityModel
import TestSupport

/// Generates a schema with entities, indexes and relationships of every kind: as a migration for a
/// store, and as entities for the other judges.
struct RandomSchema: Sendable {
  var entities: [ModelEntity]
  /// The steps `createRelationship` of the migration.
  private var relationshipSteps: [String] = []

  init(random: inout SeededRandom) {
    let names = ["Ant", "Bee", "Cat", "Dog"].prefix(random.number(2...4))
    entities = names.map { Self.entity($0, &random) }
    for number in 1...random.number(4...6) {
      // The first ones are one of each kind, and the first entity has all of them.
      let kind = number <= 4 ? number : random.number(1...4)
      relate(
        number <= 3 ? 0 : random.number(0...entities.count - 1),
        number == 4 ? nil : random.number(0...entities.count - 1), kind: kind, number: number,
        &random)
    }
    for position in entities.indices { addIndexes(position, &random) }
  }

  /// The migration file.
  var yaml: String {
    var lines = ["line: random", "summary: A random schema", "steps:"]
    for entity in entities {
      lines.append("  - createEntity:")
      lines.append("      name: \(entity.name)")
      lines.append("      attributes:")
      for attribute in entity.attributes { lines.append("        - " + Self.yaml(attribute)) }
    }
    for entity in entities {
      // A key relationship needs the unique index of its destination.
      for index in entity.indexes where index.isUnique {
        lines.append("  - " + Self.yaml(index, on: entity.name))
      }
    }
    lines += relationshipSteps.map { "  - " + $0 }
    for entity in entities {
      for index in entity.indexes where !index.isUnique {
        lines.append("  - " + Self.yaml(index, on: entity.name))
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func yaml(_ attribute: AttributeDescription) -> String {
    var text = "{ name: \(attribute.name), type: \(attribute.type.name)"
    if case .enumeration(let enumeration) = attribute.type {
      let cases = enumeration.cases.map { "\($0.name): \($0.rawValue.text)" }
      text +=
        enumeration.kind == .int64
        ? ", values: { \(cases.joined(separator: ", ")) }"
        : ", values: [\(enumeration.cases.map(\.name).joined(separator: ", "))]"
    }
    return text + (attribute.isOptional ? ", optional: true }" : " }")
  }

  private static func yaml(_ index: ModelIndex, on entity: String) -> String {
    let keys = index.keys.map { key in
      let words = [
        key.attribute, key.collation == .binary ? nil : key.collation.text,
        key.isDescending ? "desc" : nil,
      ]
      return words.compactMap { $0 }.joined(separator: " ")
    }
    return "createIndex: { on: \(entity), name: \(index.name), keys: ["
      + keys.joined(separator: ", ") + "]"
      + (index.isUnique ? ", unique: true" : "") + (index.isSparse ? ", sparse: true" : "") + " }"
  }

  // MARK: Entities

  /// Every entity has a unique code for key relationships, the code of another entity, and a number
  /// for sums; the other attributes are of random types.
  private static func entity(_ name: String, _ random: inout SeededRandom) -> ModelEntity {
    var attributes = [
      AttributeDescription(name: "code", type: .string, isOptional: random.oneIn(2)),
      AttributeDescription(name: "otherCode", type: .string, isOptional: true),
      AttributeDescription(name: "rank", type: .int64, isOptional: random.oneIn(2)),
    ]
    var rest: [(name: String, type: AttributeType)] = [
      ("size", .int64), ("score", .double), ("far", .double), ("price", .decimal),
      ("flag", .bool), ("name", .string), ("title", .string), ("day", .date), ("token", .uuid),
      ("blob", .data), ("link", .url), ("tags", .strings),
      ("kind", .enumeration(kinds)), ("state", .enumeration(states)),
    ]
    rest.shuffle(using: &random)
    for (name, type) in rest.prefix(random.number(8...11)) {
      attributes.append(
        AttributeDescription(name: name, type: type, isOptional: !random.oneIn(4)))
    }
    var entity = ModelEntity(name: name, attributes: attributes)
    entity.summable = ["rank", "score", "price"]
    for attribute in attributes {
      entity.pools[attribute.name] = random.pool(of: attribute, summable: entity.summable)
    }
    return entity
  }

  private static let kinds = Enumeration(cases: [
    .init(name: "small", rawValue: 1), .init(name: "large", rawValue: 2),
  ])
  private static let states = Enumeration(cases: [
    .init(name: "fresh", rawValue: "fresh"), .init(name: "played", rawValue: "played"),
  ])

  // MARK: Relationships

  /// - Parameter destination: `nil` for a relationship of the entity to itself.
  private mutating func relate(
    _ source: Int, _ destination: Int?, kind: Int, number: Int, _ random: inout SeededRandom
  ) {
    let (from, to) = (entities[source].name, entities[destination ?? source].name)
    let names = [("one", "ones"), ("many", "others"), ("keyed", "keyers"), ("parent", "children")]
    let (name, back) = (names[kind - 1].0 + "\(number)", names[kind - 1].1 + "\(number)")
    let isOrdered = random.oneIn(2)
    var own = ModelRelationship(name: name, destination: to, storage: .reference)
    var other = ModelRelationship(
      name: back, destination: from, storage: .inverse(of: name), isOrdered: isOrdered)
    var step = "on: \(from), name: \(name), to: \(to)"
    switch kind {
    case 2:
      own.storage = .firstOfLink
      other.storage = .secondOfLink(of: name)
      other.isOrdered = false
      step += ", many: true, inverse: { name: \(back), many: true }"
    case 3:
      own.storage = .key(own: "otherCode", other: "code")
      other.isOrdered = false
      step += ", key: { otherCode: code }, inverse: { name: \(back), many: true }"
    default:
      step += ", deleteRule: nullify, inverse: { name: \(back), many: true, ordered: \(isOrdered)"
      step += ", deleteRule: nullify }"
    }
    entities[source].relationships.append(own)
    entities[destination ?? source].relationships.append(other)
    relationshipSteps.append("createRelationship: { \(step) }")
  }

  // MARK: Indexes

  private mutating func addIndexes(_ position: Int, _ random: inout SeededRandom) {
    let entity = entities[position]
    let code = entity.attribute("code")
    entities[position].indexes.append(
      ModelIndex(
        name: "byCode", keys: [.init(attribute: "code")], isUnique: true,
        isSparse: code?.isOptional ?? false))
    for number in 1...random.number(4...7) {
      var keys: [ModelIndex.Key] = []
      for attribute in entity.attributes.shuffled(using: &random).prefix(random.number(1...3)) {
        let hasList = keys.contains { entity.attribute($0.attribute)?.type == .strings }
        if attribute.type == .strings, hasList { continue }
        var key = ModelIndex.Key(attribute: attribute.name, isDescending: random.oneIn(3))
        if attribute.type == .string, random.oneIn(3) {
          key.collation = random.pick([
            .caseInsensitive, .localizedStandard, .localizedStandard("de"),
          ])
        }
        keys.append(key)
      }
      entities[position].indexes.append(
        ModelIndex(name: "index\(number)", keys: keys, isSparse: random.oneIn(4)))
    }
  }
}
