import EntityModel
import EntityStore
import Migrations
import TestSupport
import Testing

@Suite struct RelatedChangesTests {
  @Test func aRelationshipOfAnotherKindIsRefused() async throws {
    try await withTemporaryStore(migrations: [RelationshipSchema.source]) { context in
      try await context.store.write { transaction in
        let node = try transaction.insert("Node", [:])
        let leaf = try transaction.insert("Leaf", [:])
        #expect(code { try transaction.relatedObject(node, "leaves") } == .invalidRequest)
        #expect(code { try transaction.related(node, "owner") } == .unknownRelationship)
        #expect(code { try transaction.setRelated(node, "leaves", to: leaf) } == .invalidRequest)
        #expect(code { try transaction.setRelated(leaf, "owner", to: [node]) } == .invalidRequest)
        #expect(code { try transaction.setRelated(leaf, "owner", to: leaf) } == .invalidRequest)
        #expect(
          code { try transaction.addRelated([leaf], to: node, "leaves", at: 0) } == .invalidRequest)
        #expect(
          code { try transaction.addRelated([leaf], to: node, "items", at: 1) } == .invalidRequest)
        #expect(
          code { try transaction.moveRelated([leaf], of: node, "items", to: 0) } == .invalidRequest)
        #expect(code { try transaction.setRelated(leaf, "keyed", to: node) } == .validation)
        let ghost = ObjectID(entity: "Node", number: 99)
        #expect(code { try transaction.related(ghost, "leaves") } == .missingRecord)
        #expect(code { try transaction.setRelated(ghost, "leaves", to: []) } == .missingRecord)
      }
    }
  }

  @Test func aCallThatIsRefusedHalfwayHasChangedNothing() async throws {
    let text = """
      line: shelf
      summary: s
      steps:
        - createEntity: { name: Shelf, attributes: [] }
        - createEntity: { name: Tin, attributes: [{ name: label, type: string }] }
        - createRelationship: { on: Tin, name: shelf, to: Shelf, inverse: { name: tins, ordered: true } }
        - createIndex: { on: Tin, name: byLabel, keys: [shelf, label], unique: true, sparse: true }
      """
    let source = MigrationSource(embedded: [("0001_shelf", Array(text.utf8))])
    try await withTemporaryStore(migrations: [source]) { context in
      try await context.store.write { transaction in
        let shelves = try (0..<3).map { _ in try transaction.insert("Shelf", [:]) }
        let tins = try [("tea", 0), ("rice", 1), ("tea", 1)].map { label, shelf in
          try transaction.insert(
            "Tin", ["label": .string(label), "shelf": .int64(shelves[shelf].number)])
        }
        #expect(
          code { try transaction.setRelated(shelves[2], "tins", to: tins) } == .uniqueViolation)
        #expect(
          code { try transaction.addRelated([tins[1], tins[2]], to: shelves[0], "tins", at: 0) }
            == .uniqueViolation)
        #expect(try transaction.related(shelves[0], "tins") == [tins[0]])
        #expect(try transaction.related(shelves[1], "tins") == [tins[1], tins[2]])
        #expect(try transaction.related(shelves[2], "tins") == [])
      }
    }
  }
}
