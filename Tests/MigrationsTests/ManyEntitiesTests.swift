import EntityModel
import EntityStore
import Migrations
import TestSupport
import Testing

/// A store with more entities than an environment has room for by default.
@Suite struct ManyEntitiesTests {
  private static let count = 700

  private static var source: MigrationSource {
    var text = "line: many\nsummary: Many entities\nsteps:\n"
    for number in 0..<count {
      text += "  - createEntity: { name: E\(number), attributes: ["
      text += "{ name: n, type: int64, owner: local }] }\n"
    }
    text += "  - createIndex: { on: E3, name: byN, keys: [n] }\n"
    text += "  - createRelationship: { on: E1, name: next, to: E2, inverse: { name: before } }\n"
    return MigrationSource(embedded: [("0001_many", Array(text.utf8))])
  }

  @Test func itIsMadeAndOpenedAgainByProgramsThatDoNotKnowItsMigrations() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("store")
      do {
        let store = try openStore(at: path, migrations: [Self.source])
        try store.writeBlocking { transaction in
          for number in 0..<Self.count { try transaction.insert("E\(number)", ["n": 1]) }
        }
        try requireClean(store)
      }
      let store = try openStore(at: path, migrations: [])
      #expect(try store.schema.entities.filter { !$0.isSystem }.count == Self.count)
      #expect(try store.read { try $0.count(of: "E699") } == 1)
      try store.writeBlocking { _ = try $0.insert("E0", ["n": 2]) }
      #expect(try store.read { try $0.count(of: "E0") } == 2)
      try requireClean(store)
    }
  }

  @Test func aStepStillFailsThatRemovesWhatARelationshipNeeds() throws {
    let text = """
      line: linked
      summary: s
      steps:
        - createEntity:
            name: A
            attributes: [{ name: code, type: string, optional: true, owner: local }]
        - createIndex: { on: A, name: byCode, keys: [code], unique: true, sparse: true }
        - createEntity:
            name: B
            attributes: [{ name: code, type: string, optional: true, owner: local }]
        - createRelationship:
            on: B
            name: a
            to: A
            key: { code: code }
            inverse: { name: bs, many: true }
        - dropIndex: { on: A, name: byCode }
      """
    try withTemporaryFolder { folder in
      let source = MigrationSource(embedded: [("0001_linked", Array(text.utf8))])
      let error = #expect(throws: StoreError.self) {
        _ = try openStore(at: folder.path("store"), migrations: [source])
      }
      #expect(error?.description.contains("a relationship needs what the step removes") == true)
    }
  }
}
