import EntityStore
import Maintenance
import Migrations
import TestSupport
import Testing

@Suite struct KnownLinesTests {
  private static let unreadable = MigrationSource(embedded: [("0001_bad", Array("- [".utf8))])

  @Test func aReaderDoesNotLoadTheFilesOfTheProgram() throws {
    try withTemporaryFolder { folder in
      try Store.open(at: folder.path, migrate: .ifEmpty).close()
      var options = Store.Options()
      options.isReadOnly = true
      let store = try Store.open(
        at: folder.path, migrations: [Self.unreadable], options: options)
      #expect(try !store.migrationHistory().isEmpty)
      #expect(throws: (any Error).self) { try store.migrationLines }
      #expect(try store.checkIntegrity().isClean)
      store.close()
    }
  }

  @Test func noStoreIsCreatedForUnreadableFiles() throws {
    try withTemporaryFolder { folder in
      let path = folder.path + "/store"
      #expect(throws: (any Error).self) {
        try Store.open(at: path, migrations: [Self.unreadable], migrate: .ifEmpty)
      }
      #expect(throws: StoreError.self) { try Store.open(at: path) }
    }
  }
}
