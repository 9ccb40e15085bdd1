import EntityModel
import EntityStore
import LegacyImport
import Migrations
import TestSupport
import Testing

/// Names of entities that the store has already.
@Suite struct TakenNameTests {
  private static let sql = """
    CREATE TABLE feed (id INTEGER PRIMARY KEY, title TEXT);
    CREATE TABLE item (id INTEGER PRIMARY KEY, title TEXT, feed_id INTEGER REFERENCES feed(id));
    INSERT INTO feed VALUES (1, 'a'), (2, 'b');
    INSERT INTO item VALUES (1, 'x', 1), (2, 'y', 2);
    """

  @Test func aTakenNameGetsTheNameOfTheImportBeforeIt() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("old-news.db")
      try MadeDatabase.make(at: path, Self.sql)
      let proposal = try LegacyFile(path).inspect(besides: ["Feed", "OldNewsFeed", "Other"])
      #expect(Set(proposal.entities.map(\.entity)) == ["OldNewsFeed2", "Item"])
      #expect(
        proposal.warnings.contains(
          "there is an entity Feed of another origin: this one is called OldNewsFeed2"))
      let other = """
        line: other
        summary: Of another import
        steps:
          - createEntity: { name: Feed, attributes: [{ name: url, type: string, owner: local }] }
        """
      let sources = [
        MigrationSource.legacyImport,
        MigrationSource(embedded: [("0001_other", Array(other.utf8))]),
        MigrationSource(embedded: [("0001_old_news", Array(proposal.migration.utf8))]),
      ]
      try await withTemporaryStore(migrations: sources) { temporary in
        let report = try LegacyFile(path).run(
          try Self.confirmed(proposal, in: temporary.store), in: temporary.store)
        #expect(report.isBalanced && report.rejected == 0, "\(problems(of: report))")
        #expect(report.relationships.map(\.linked) == [2])
        #expect(try temporary.store.read { try $0.count(of: "Feed") } == 0)
        #expect(try temporary.store.read { try $0.count(of: "OldNewsFeed2") } == 2)
      }
    }
  }

  @Test func aStoreOfCoreDataAvoidsTakenNamesToo() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("podcasts.sqlite")
      try MadeDatabase.make(at: path, Podcasts.sql(""))
      let plain = try LegacyFile(path).inspect()
      let taken = Set(plain.entities.map(\.entity))
      let other = try LegacyFile(path).inspect(name: "second", besides: taken)
      #expect(Set(other.entities.map(\.entity)) == Set(taken.map { "Second" + $0 }))
      let migrations = [plain, other].map {
        MigrationSource(embedded: [("0001_\($0.name)", Array($0.migration.utf8))])
      }
      try await withTemporaryStore(migrations: [.legacyImport] + migrations) { temporary in
        for proposal in [plain, other] {
          let report = try LegacyFile(path).run(
            try Self.confirmed(proposal, in: temporary.store), in: temporary.store)
          #expect(report.isBalanced, "\(problems(of: report))")
        }
      }
    }
  }

  private static func confirmed(
    _ proposal: ImportProposal, in store: Store
  ) throws -> MappingText {
    let schema = try store.read { $0.schema }
    let mapping = try MappingFile.read(
      Array(proposal.mapping.utf8), file: "proposed.yaml", schema: schema)
    return try MappingText(
      Array(MappingFile.text(of: mapping.confirmed).utf8), file: "proposed.yaml")
  }
}
