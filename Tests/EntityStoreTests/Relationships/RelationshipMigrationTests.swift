import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

@Suite struct RelationshipMigrationTests {
  private static let base = """
    line: base
    summary: s
    steps:
      - createEntity:
          name: Path
          attributes:
            - { name: id, type: string }
            - { name: feedID, type: int64, optional: true }
      - createIndex: { on: Path, name: byID, keys: [id, feedID], unique: true }
      - createEntity:
          name: Episode
          attributes:
            - { name: id, type: string }
            - { name: pathID, type: string, optional: true }
            - { name: feedID, type: int64, optional: true }
            - { name: position, type: int64, optional: true }
            - { name: title, type: string, optional: true }
      - createIndex: { on: Episode, name: byID, keys: [id, feedID], unique: true }
    """

  private static let pathByKey = """
    createRelationship:
          on: Episode
          name: path
          to: Path
          key: { pathID: id, feedID: feedID }
          inverse: { name: episodes, orderBy: position, deleteRule: noAction }
    """

  private static func source(_ steps: [String]) -> MigrationSource {
    let text = "line: base\nsummary: s\nsteps:\n" + steps.map { "  - \($0)\n" }.joined()
    let more = steps.isEmpty ? [] : [(name: "0002_more", bytes: Array(text.utf8))]
    return MigrationSource(embedded: [(name: "0001_base", bytes: Array(base.utf8))] + more)
  }

  /// Fills a store of the base schema with 3 paths and 12 episodes, then opens it with more steps.
  private static func migrated(
    _ steps: String..., body: @escaping @Sendable (Store) async throws -> Void
  ) async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("store")
      do {
        let store = try openStore(at: path, migrations: [source([])])
        try await store.write { transaction in
          for number in 1...3 {
            try transaction.insert("Path", ["id": .string("p\(number)"), "feedID": 1])
          }
          for number in 1...12 {
            try transaction.insert(
              "Episode",
              [
                "id": .string("e\(number)"), "feedID": .int64(number == 12 ? 2 : 1),
                "pathID": number % 4 == 0 ? .null : .string("p\(number % 4)"),
                "position": .int64(Int64(20 - number)),
              ])
          }
        }
      }
      let store = try openStore(at: path, migrations: [source(steps)])
      try await body(store)
      try requireClean(store)
    }
  }

  private static func episode(_ number: Int64) -> ObjectID {
    .init(entity: "Episode", number: number)
  }
  private static func episodes(_ numbers: Int64...) -> [ObjectID] { numbers.map(episode) }
  private static func path(_ number: Int64) -> ObjectID { .init(entity: "Path", number: number) }

  @Test func aRelationshipByKeyLinksTheMatchingRecords() async throws {
    try await Self.migrated(Self.pathByKey) { store in
      let plan = try store.migrationPlan().steps
      #expect(plan.map(\.records) == [12])
      try store.migrate()
      try store.read { transaction in
        #expect(try transaction.relatedObject(Self.episode(5), "path") == Self.path(1))
        #expect(try transaction.relatedObject(Self.episode(4), "path") == nil)
        let episodes = try transaction.related(Self.path(1), "episodes")
        #expect(episodes == Self.episodes(9, 5, 1))  // by position, which runs the other way
      }
      try await store.write { transaction in
        try transaction.setRelated(Self.episode(4), "path", to: Self.path(1))
        #expect(try transaction.value("pathID", of: Self.episode(4)) == "p1")
        // The feed is a part of what the episode is; only the path's id is cleared.
        try transaction.setRelated(Self.episode(4), "path", to: nil)
        #expect(try transaction.value("pathID", of: Self.episode(4)) == .null)
        #expect(try transaction.value("feedID", of: Self.episode(4)) == 1)
        // The link is there again when the path is.
        try transaction.delete(Self.path(1))
        #expect(try transaction.relatedObject(Self.episode(5), "path") == nil)
        let again = try transaction.insert("Path", ["id": "p1", "feedID": 1])
        #expect(try transaction.related(again, "episodes") == Self.episodes(9, 5, 1))
      }
    }
  }

  @Test func addingAReferenceRewritesNoRecord() async throws {
    try await Self.migrated(
      "createRelationship: { on: Episode, name: home, to: Path, inverse: { name: guests, ordered: true } }",
      "createRelationship: { on: Episode, name: tags, to: Path, many: true, inverse: { name: tagged } }",
      "createRelationship: { on: Path, name: cover, to: Episode }"
    ) { store in
      #expect(try store.migrationPlan().steps.map(\.records) == [0, 0, 0])
      try store.migrate()
      let schema = try store.schema
      let episode = try #require(schema.entity(named: "Episode"))
      #expect(episode.layouts.count == 2)
      #expect(episode.attribute(named: "home")?.type == .reference("Path"))
      #expect(episode.attribute(named: "home")?.owner == .local)
      let index = try #require(episode.index(named: "_home"))
      #expect(episode.keyText(of: index) == "home, _home_order" && index.isSparse)
      #expect(schema.entity(named: "_Episode_tags")?.attributes.map(\.name) == ["from", "to"])
      try await store.write { transaction in
        try transaction.setRelated(Self.path(2), "guests", to: Self.episodes(7, 3, 5))
        #expect(try transaction.related(Self.path(2), "guests") == Self.episodes(7, 3, 5))
      }
    }
  }

  @Test func oneToOneReplacesTheFormerLink() async throws {
    try await Self.migrated(
      "createRelationship: { on: Episode, name: pair, to: Path, inverse: { name: pair, many: false } }"
    ) { store in
      try store.migrate()
      try await store.write { transaction in
        try transaction.setRelated(Self.episode(1), "pair", to: Self.path(1))
        try transaction.setRelated(Self.episode(2), "pair", to: Self.path(2))
        try transaction.setRelated(Self.path(1), "pair", to: Self.episode(2))
        #expect(try transaction.relatedObject(Self.episode(1), "pair") == nil)
        #expect(try transaction.relatedObject(Self.path(2), "pair") == nil)
        #expect(try transaction.relatedObject(Self.episode(2), "pair") == Self.path(1))
        // As a plain value it keeps to the rules of a unique index.
        #expect(
          code { try transaction.update(Self.episode(3)) { try $0.set("pair", to: 1) } }
            == .uniqueViolation)
      }
    }
  }

  @Test(
    "A step that does not fit is refused and changes nothing",
    arguments: [
      (
        "only be made while there are no records",
        "{ on: Episode, name: r, to: Path, optional: false }"
      ),
      ("no such entity", "{ on: Episode, name: r, to: Nowhere }"),
      ("exists already", "{ on: Episode, name: title, to: Path }"),
      ("exists already", "{ on: Episode, name: r, to: Path, inverse: { name: id } }"),
      (
        "no such attribute",
        "{ on: Episode, name: r, to: Path, inverse: { name: e, orderBy: rank } }"
      ),
      (
        "orderBy needs a number or a date",
        "{ on: Episode, name: r, to: Path, inverse: { name: e, orderBy: title } }"
      ),
      (
        "no unique index on exactly the key",
        "{ on: Episode, name: r, to: Path, key: { pathID: id } }"
      ),
      (
        "have different types",
        "{ on: Episode, name: r, to: Path, key: { position: id, feedID: feedID } }"
      ),
      (
        "can be set to null",
        "{ on: Episode, name: r, to: Path, key: { id: id, feedID: feedID }, inverse: { name: e } }"
      ),
      (
        "records have equal values",
        "{ on: Episode, name: r, to: Path, key: { pathID: id, feedID: feedID }, inverse: { name: e, many: false } }"
      ),
    ])
  func aStepThatDoesNotFit(says: String, step: String) async throws {
    try await Self.migrated("createRelationship: \(step)") { store in
      let before = try store.schema
      let error = #expect(throws: StoreError.self) { try store.migrate() }
      #expect(error?.description.contains(says) == true, "\(String(describing: error))")
      #expect(try store.schema == before)
    }
  }

  @Test(
    "What a relationship needs stays",
    arguments: [
      "dropIndex: { on: Path, name: byID }", "dropIndex: { on: Episode, name: _path }",
      "addAttribute: { to: Path, name: episodes, type: string, optional: true }",
    ])
  func whatARelationshipNeedsStays(step: String) async throws {
    try await Self.migrated(Self.pathByKey, step) { store in
      #expect(code { try store.migrate() } == .migration)
    }
  }

  @Test func aRequiredReferenceIsAddedToAnEmptyEntity() async throws {
    let text = """
      createEntity: { name: Note, attributes: [{ name: text, type: string }] }
      """
    try await Self.migrated(
      text,
      "createRelationship: { on: Note, name: about, to: Path, optional: false, inverse: { name: notes, deleteRule: cascade } }"
    ) { store in
      try store.migrate()
      try await store.write { transaction in
        #expect(code { try transaction.insert("Note", ["text": "a"]) } == .validation)
        let note = try transaction.insert("Note", ["text": "a", "about": 2])
        #expect(try transaction.related(Self.path(2), "notes") == [note])
      }
    }
  }
}
