import EntityModel
import TestSupport
import Testing

@testable import EntityStore

@Suite struct PrefetchTests {
  @Test func aReadOfManyLinksCanBeInterrupted() async throws {
    struct Interruption: Error {}
    try await withTemporaryStore(migrations: [RelationshipSchema.source]) { context in
      let node = try await context.store.write { transaction in
        let node = try transaction.insert("Node", [:])
        let others = try (0..<300).map { _ in try transaction.insert("Node", [:]) }
        try transaction.setRelated(node, "friends", to: others)
        return node
      }
      try context.store.read { transaction in
        let friends = try transaction.related(node, "friends")
        #expect(friends.count == 300)
        transaction.interruption = { throw Interruption() }
        #expect(throws: Interruption.self) { try transaction.related(node, "friends") }
        transaction.interruption = nil
      }
    }
  }

  @Test func eachRecordOfAPathIsReadOnce() async throws {
    try await withTemporaryStore(migrations: [RelationshipSchema.source]) { context in
      let store = context.store
      let (nodes, leaves) = try await store.write { transaction in
        let nodes = try (0..<3).map { _ in try transaction.insert("Node", [:]) }
        let leaves = try (0..<6).map { number in
          try transaction.insert("Leaf", ["owner": .int64(nodes[number % 2].number)])
        }
        try transaction.setRelated(nodes[0], "parent", to: nodes[2])
        try transaction.setRelated(nodes[1], "parent", to: nodes[2])
        try transaction.setRelated(nodes[2], "items", to: [leaves[4], leaves[1]])
        return (nodes, leaves)
      }
      try store.read { transaction in
        var request = FetchRequest(entityName: "Leaf")
        request.relationshipKeyPathsForPrefetching = ["owner.parent.items", "owner", "tags"]
        let records = try transaction.fetch(request)
        let prefetched = try transaction.prefetch(request, for: records)
        #expect(prefetched.isComplete)
        #expect(Set(prefetched.records.keys) == Set(nodes + [leaves[4], leaves[1]]))
        #expect(prefetched.related(leaves[1], "owner") == [nodes[1]])
        #expect(prefetched.related(nodes[1], "parent") == [nodes[2]])
        #expect(prefetched.related(nodes[2], "items") == [leaves[4], leaves[1]])
        #expect(prefetched.related(leaves[1], "tags") == [])
        #expect(prefetched.related(nodes[0], "leaves") == nil)
        #expect(prefetched.records[nodes[0]]?.values == (try transaction.get(nodes[0]))?.values)
        request.relationshipKeyPathsForPrefetching = ["owner.rank"]
        #expect(code { try transaction.prefetch(request, for: records) } == .unknownRelationship)
      }
    }
  }
}
