import EntityModel
import EntityStore
import Foundation
import LegacyImport
import SystemSupport
import TestSupport
import Testing

/// A file of Core Data as it was and as it became, taken over twice.
struct ChangedFileTests {
  @Test func onlyChangesOfALaterVersionAreWritten() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path("podcasts.sqlite")
      try MadeDatabase.make(
        at: path, Podcasts.sql("UPDATE ZFEED SET ZARTWORK = NULL WHERE Z_PK = 2;"))
      try await withProposedImport(of: path) { proposed in
        let first = try proposed.run()
        #expect(first.isBalanced && first.rejected == 0, "\(problems(of: first))")
        let store = proposed.store
        func id(_ title: String) throws -> ObjectID {
          var request = FetchRequest(entityName: "Feed")
          request.predicate = try FetchPredicate(format: "title == %@", title)
          return try #require(try store.read { try $0.fetch(request) }.first).id
        }
        let titles = try store.read {
          try $0.fetch(FetchRequest(entityName: "Feed", sortBy: [SortKey("title")]))
            .map { try $0["title"].text }
        }
        let edited = try id(titles[0])
        try await store.write { transaction in
          try transaction.update(edited) { try $0.set("title", to: "mine") }
        }
        try MadeDatabase.make(
          at: path,
          """
          UPDATE ZFEED SET ZTITLE = 'later' WHERE ZTITLE = '\(titles[1])';
          INSERT INTO ZFEED (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZFEEDURL)
            SELECT 900, Z_ENT, 1, 'new', 'https://example.org/new' FROM ZFEED LIMIT 1;
          DELETE FROM ZFEED WHERE ZTITLE = '\(titles[2])';
          """)
        let (plan, _) = try proposed.plan()
        let second = try proposed.run()
        #expect(second.isBalanced, "\(problems(of: second))")
        expectSameBalance(plan, second)
        let feeds = try #require(second.entities.first { $0.name == "Feed" })
        #expect(feeds.written.new == 1 && feeds.written.changed == 1)
        #expect(feeds.written.unchanged == 1 && feeds.edited == 1)
        #expect(second.gone == 1 && second.goneRows.first?.hasPrefix("ZFEED ") == true)
        let after = try store.read {
          try $0.fetch(FetchRequest(entityName: "Feed", sortBy: [SortKey("title")]))
            .map { try $0["title"].text }
        }
        #expect(after.sorted() == ["later", "mine", "new", titles[2]].sorted())
      }
    }
  }

  /// The last changes may be in the -wal only: an interrupted run must not resume over them.
  @Test func anInterruptedRunStartsAgainWhenOnlyTheLogHasChanged() async throws {
    try await withTemporaryStore(migrations: [.legacyImport, Library.migration]) { temporary in
      let path = temporary.folder.path("live.db")
      let other = try OpenDatabase(path)
      try other.run(
        """
        PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
        CREATE TABLE shelf (id INTEGER PRIMARY KEY, name TEXT);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
        INSERT INTO shelf SELECT i, 'shelf ' || i FROM n;
        """)
      let mapping = try MappingText(
        Array(
          """
          import: live
          dialect: plain
          entities:
            - { entity: Shelf, table: shelf, key: [id], attributes: { name: name } }
          """.utf8), file: "live.yaml")
      let isFar = Locked(false)
      var options = LegacyFile.Options()
      options.isCancelled = { isFar.withLock { $0 } }
      options.progress = { if $0.done >= 2_000 { isFar.withLock { $0 = true } } }
      #expect(throws: CancellationError.self) {
        try LegacyFile(path, options).run(mapping, in: temporary.store)
      }
      try other.run("UPDATE shelf SET name = 'changed' WHERE id <= 10")
      let report = try LegacyFile(path).run(mapping, in: temporary.store)
      #expect(report.isBalanced && report.run == 2, "\(problems(of: report))")
      #expect(report.entities[0].written.changed == 10)
    }
  }
}
