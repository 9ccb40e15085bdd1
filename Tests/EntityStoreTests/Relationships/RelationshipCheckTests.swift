import EntityModel
import TestSupport
import Testing

@testable import EntityStore
@testable import Maintenance

@Suite struct RelationshipCheckTests {
  /// Puts values into a record past all rules, checks, and puts it right again.
  private func problems(
    _ values: [String: Value], of id: ObjectID, in store: Store
  ) async throws -> [String] {
    let sound = try await store.write { transaction in
      let entity = try transaction.layout(id.entity)
      let stored = try transaction.row(id.number, of: entity)
      let before = try stored?.values() ?? []
      var row = before
      for (name, value) in values { row[try entity.position(of: name)] = value }
      try transaction.put(row, id: id.number, old: stored?.view, in: entity)
      return before
    }
    let report = try store.checkIntegrity()
    try await store.write { transaction in
      let entity = try transaction.layout(id.entity)
      let stored = try transaction.row(id.number, of: entity)
      try transaction.put(sound, id: id.number, old: stored?.view, in: entity)
    }
    return report.problems.map(\.description)
  }

  @Test func theCheckFindsWrongLinks() async throws {
    try await withTemporaryStore(migrations: [RelationshipSchema.source]) { context in
      let store = context.store
      let (nodes, leaf) = try await store.write { transaction in
        let nodes = try (0..<4).map { _ in try transaction.insert("Node", [:]) }
        try transaction.setRelated(nodes[0], "friends", to: [nodes[1]])
        try transaction.setRelated(nodes[0], "spouse", to: nodes[1])
        try transaction.setRelated(nodes[2], "spouse", to: nodes[3])
        return (nodes, try transaction.insert("Leaf", ["list": .int64(nodes[0].number)]))
      }
      #expect(
        try await problems(["owner": 999], of: leaf, in: store)
          == ["Leaf 1: owner leads to no record"])
      #expect(
        try await problems(["_list_order": .null], of: leaf, in: store)
          == ["Leaf 1: list has no place in its order"])
      let friends = ObjectID(entity: "_Node_friends", number: 1)
      #expect(
        try await problems(["to": 999], of: friends, in: store)
          == ["_Node_friends 1: to leads to no record"])
      let turned = try await problems(
        ["from": .int64(nodes[1].number), "to": .int64(nodes[0].number)], of: friends, in: store)
      #expect(turned == ["Node 2: a link of friends is stored the wrong way round"])
      let bigamy = try await problems(
        ["from": .int64(nodes[0].number)], of: ObjectID(entity: "_Node_spouse", number: 2),
        in: store)
      #expect(bigamy == ["Node 1: spouse leads to 2 records"])
    }
  }

  private static let damages: [(String, @Sendable (inout Schema) -> Void)] = [
    ("its destination is missing", { $0.leaf("owner") { $0.destination = "Nowhere" } }),
    ("does not lead back", { $0.leaf("owner") { $0.inverse = "items" } }),
    (
      "is no reference to Node",
      { $0.leaf("owner") { $0.storage = .reference(attribute: 1, index: 9) } }
    ),
    ("is no reference to Node", { $0.leaf("owner") { $0.isToMany = true } }),
    ("has other keys", { $0.leaf("owner") { $0.storage = $0.storage.withIndex(999) } }),
    (
      "two entities have the same name or id",
      { $0.entities[1].name = $0.entities[0].name }
    ),
    ("two entities have the same name or id", { $0.entities[1].id = $0.entities[0].id }),
    (
      "two relationships have the same id",
      {
        $0.leaf("owner") { $0.id = 1_000 }; $0.leaf("list") { $0.id = 1_000 }
      }
    ),
    ("have the same name", { $0.leaf("owner") { $0.name = "list" } }),
    ("has no order", { $0.leaf("tags") { $0.isOrdered = true } }),
    ("the entity of its links is missing", { $0.entities.removeAll { $0.name == "_Leaf_tags" } }),
    ("does not lead back", { $0.leaf("tags") { $0.inverse = "playlists" } }),
    (
      "no unique index on its key",
      { $0.entities[$0.node].indexes.removeAll { $0.name == "byCode" } }
    ),
    ("neither side holds", { $0.leaf("owner") { $0.storage = .inverse(order: nil) } }),
  ]

  @Test(arguments: damages.indices)
  func aDamagedCatalogIsDetected(_ number: Int) throws {
    let (text, change) = Self.damages[number]
    try withTemporaryFolder { folder in
      let store = try openStore(at: folder.path("store"), migrations: [RelationshipSchema.source])
      var schema = try store.schema
      let trees = Set(
        schema.entities.flatMap { entity in
          [EntityLayout.treeName(of: entity)] + entity.indexes.map(EntityLayout.treeName)
        })
      #expect(CatalogCheck.problems(of: schema, treeNames: trees) == [])
      change(&schema)
      let problems = CatalogCheck.problems(of: schema, treeNames: trees).map(\.text)
      #expect(problems.contains { $0.contains(text) }, "\(problems)")
    }
  }
}

extension Schema {
  fileprivate var node: Int { entities.firstIndex { $0.name == "Node" } ?? 0 }

  fileprivate mutating func leaf(
    _ name: String, _ change: (inout RelationshipDescription) -> Void
  ) {
    for number in entities.indices where entities[number].name == "Leaf" {
      for place in entities[number].relationships.indices
      where entities[number].relationships[place].name == name {
        change(&entities[number].relationships[place])
      }
    }
  }
}

extension RelationshipDescription.Storage {
  fileprivate func withIndex(_ index: Int) -> Self {
    guard case .reference(let attribute, _) = self else { return self }
    return .reference(attribute: attribute, index: index)
  }
}
