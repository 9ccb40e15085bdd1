import EntityModel
import EntityStore
import Foundation
import LegacyImport
import Migrations
import TestSupport
import Testing

/// A suggested import that is run as it is.
@Suite struct CoreDataImportTests {
  @Test func aSuggestionRunsUnchangedAndLosesNothing() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("podcasts.sqlite")
      // The file of the external value is not there.
      try MadeDatabase.make(
        at: path,
        Podcasts.sql(
          "UPDATE ZFEED SET ZARTWORK = NULL WHERE Z_PK = 2;")
      )
      let suggestion = try CoreDataSuggestion.suggestedImport(
        of: SourceDatabase(SourceSnapshot.take(of: path, in: folder.path)), named: "podcasts")
      let migration = MigrationText.yaml(
        of: suggestion.steps, line: "podcasts", summary: "A legacy import")
      let sources = [
        MigrationSource.legacyImport,
        MigrationSource(embedded: [("0001_podcasts", Array(migration.utf8))]),
      ]
      try await withTemporaryStore(migrations: sources) { temporary in
        let mapping = MappingFile.text(of: suggestion.mapping)
        let report = try LegacyFile(path).run(
          try MappingText(Array(mapping.utf8), file: "map.yaml"), in: temporary.store)
        #expect(report.isBalanced && report.isWithinLimit && report.rejected == 0, "\(report)")
        try temporary.store.read { snapshot in
          func names(_ id: ObjectID, _ relationship: String, _ name: String) throws -> [Value?] {
            try snapshot.related(id, relationship).map { try snapshot.get($0)?[name] }
          }
          let feeds = try snapshot.fetch(
            FetchRequest(entityName: "Feed", sortBy: [SortKey("title")]))
          #expect(feeds.count == 3)
          #expect(
            try feeds[0]["lastFetched"]
              == .date(Date(timeIntervalSinceReferenceDate: 700_000_000)))
          #expect(try feeds[0]["artwork"] == .data(Data([2])))
          #expect(try names(feeds[0].id, "items", "title") == [.string("Two"), .string("One")])
          #expect(
            try names(feeds[1].id, "items", "kind") == [.string("Episode"), .string("Episode")])
          #expect(try names(feeds[0].id, "tags", "label") == [.string("swift")])
          let playlist = try #require(
            try snapshot.fetch(FetchRequest(entityName: "Playlist")).first)
          #expect(
            try names(playlist.id, "episodes", "price")
              == [.decimal(5), .decimal(Decimal(string: "9.99") ?? 0)])
          let people = try snapshot.fetch(
            FetchRequest(entityName: "Person", sortBy: [SortKey("name")]))
          #expect(try names(people[0].id, "friends", "name") == [.string("Bob")])
        }
      }
    }
  }
}
