import EntityModel
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

@Suite struct RequestTemplateTests {
  private static func source(_ steps: String...) -> MigrationSource {
    let text = "line: t\nsummary: s\nsteps:\n" + steps.map { "  - \($0)\n" }.joined()
    let links = (name: "0001_links", bytes: Array(RelationshipSchema.text.utf8))
    return MigrationSource(embedded: [links, (name: "0001_t", bytes: Array(text.utf8))])
  }

  private static let ranked = """
    createTemplate:
          name: ranked
          entity: Leaf
          where: rank >= $LEAST AND owner.code == $CODE
          sortBy: [rank desc, owner.code localized(de)]
          limit: 2
          offset: 1
    """

  @Test func aTemplateIsFilledInAndFetched() async throws {
    try await withTemporaryStore(migrations: [Self.source(Self.ranked)]) { context in
      let store = context.store
      try await store.write { transaction in
        let node = try transaction.insert("Node", ["code": "a"])
        for rank in 1...6 {
          try transaction.insert(
            "Leaf", ["rank": .int64(Int64(rank)), "owner": .int64(node.number)])
        }
      }
      let template = try store.fetchRequestTemplate(named: "ranked")
      #expect(template.predicate?.variables == ["LEAST", "CODE"])
      #expect(template.sortBy[1] == SortKey("owner.code", collation: .localizedStandard("de")))
      #expect(template.fetchLimit == 2 && template.fetchOffset == 1)
      var request = try store.fetchRequest(
        fromTemplate: "ranked", substitutionVariables: ["LEAST": 3, "CODE": "a", "MORE": 1])
      #expect(request.predicate?.variables == [])
      request.sortBy.removeLast()
      let ranks = try store.fetch(request).map { try $0["rank"] }
      #expect(ranks == [5, 4])
    }
  }

  @Test func whatIsMissingIsNamed() async throws {
    try await withTemporaryStore(migrations: [Self.source(Self.ranked)]) { context in
      let missing = #expect(throws: StoreError.self) {
        try context.store.fetchRequest(
          fromTemplate: "ranked", substitutionVariables: ["LEAST": 3])
      }
      #expect(missing?.code == .invalidRequest)
      #expect(missing?.description.contains("$CODE") == true)
      let unknown = #expect(throws: StoreError.self) {
        try context.store.fetchRequestTemplate(named: "range")
      }
      #expect(unknown?.code == .unknownTemplate)
      #expect(unknown?.description.contains("ranked") == true)
    }
  }

  @Test(
    "A step that does not fit is refused",
    arguments: [
      ("the template is there already", ranked),
      ("there is no entity Nowhere", "createTemplate: { name: a, entity: Nowhere }"),
      ("Leaf has no size", "createTemplate: { name: a, entity: Leaf, where: size == 1 }"),
      ("Node has no size", "createTemplate: { name: a, entity: Leaf, where: owner.size == $A }"),
      ("Leaf has no rank", "createTemplate: { name: a, entity: Leaf, where: rank.code == 1 }"),
      (
        "Leaf has no code",
        "createTemplate: { name: a, entity: Node, where: \"ANY leaves SATISFIES (code == 1)\" }"
      ),
      ("no attribute to sort by", "createTemplate: { name: a, entity: Leaf, sortBy: [owner] }"),
      ("the store has ranked", "dropTemplate: { name: other }"),
    ])
  func aStepThatDoesNotFit(says: String, step: String) throws {
    try withTemporaryFolder { folder in
      let error = #expect(throws: StoreError.self) {
        try openStore(at: folder.path("s"), migrations: [Self.source(Self.ranked, step)])
      }
      #expect(error?.code == .migration)
      #expect(error?.description.contains(says) == true, "\(String(describing: error))")
    }
  }

  @Test(
    "An error in a file names its place",
    arguments: [
      ("f:4:53: byte 8", "createTemplate: { name: a, entity: Leaf, where: \"rank =! 1\" }"),
      ("f:4:55: write a key as", "createTemplate: { name: a, entity: Leaf, sortBy: [rank down] }"),
      ("f:4:53: this is at least 0", "createTemplate: { name: a, entity: Leaf, limit: -1 }"),
      ("is unknown", "createTemplate: { name: a, entity: Leaf, having: a }"),
    ])
  func errorsNameTheirPlace(says: String, step: String) {
    let text = "line: a\nsummary: s\nsteps:\n  - \(step)\n"
    let message =
      #expect(throws: (any Error).self) {
        try MigrationFile.read(Array(text.utf8), name: "0001_x", file: "f")
      }.map { "\($0)" } ?? ""
    #expect(message.contains(says), "\(message)")
  }

  @Test func aDroppedTemplateMakesRoomForAnother() async throws {
    let other = "createTemplate: { name: ranked, entity: Node, where: ANY leaves.rank > $LEAST }"
    let source = Self.source(Self.ranked, "dropTemplate: { name: ranked }", other)
    try await withTemporaryStore(migrations: [source]) { context in
      #expect(try context.store.fetchRequestTemplate(named: "ranked").entityName == "Node")
      let schema = try context.store.schema
      #expect(
        CatalogCheck.problems(of: schema, treeNames: []).allSatisfy { $0.entity != "catalog" })
      var damaged = schema
      damaged.templates.append(schema.templates[0])
      damaged.templates[0].request.entityName = "Leaf"
      let problems = CatalogCheck.problems(of: damaged, treeNames: []).map(\.text)
      #expect(problems.contains("two templates have the same name"))
      #expect(problems.contains { $0.hasPrefix("the template ranked: Leaf has no leaves") })
    }
  }

  @Test(
    "A sort key is read as it is written",
    arguments: [
      "title", "a.b desc", "title localized", "title caseInsensitive desc",
      "title localized(de) desc",
    ])
  func sortKeys(text: String) {
    #expect(SortKey(text: text)?.description == text)
    #expect(SortKey(text: "title asc") == SortKey("title"))
    for wrong in ["", "a b", "a desc asc", "a desc localized", "a localized localized"] {
      #expect(SortKey(text: wrong) == nil)
    }
  }
}
