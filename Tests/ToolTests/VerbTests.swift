import Foundation
import TestSupport
import Testing

/// The output of each command on a store of known content.
@Suite struct VerbTests {
  private func output(_ run: ToolRun, sourceLocation: SourceLocation = #_sourceLocation) -> String {
    #expect(run.status == 0, "\(run.errors)", sourceLocation: sourceLocation)
    #expect(run.errors.isEmpty, sourceLocation: sourceLocation)
    return run.output
  }

  @Test func homeListsTheResultsOfTheLoads() throws {
    try withSampleStore { store in
      let home = try mooring("home", "--limit", "2", store: store)
      #expect(
        output(home) == """
          Recent updates
            id    title          updated               progress
            ep:5  plain          2026-01-05T00:00:00Z
            ep:4  �[31mred���2J  2026-01-04T00:00:00Z

          Favorites
            none

          Watch later
            none

          Free
            id    title         updated               progress
            ep:3  日本語の題名  2026-01-03T00:00:00Z

          Continue watching
            id    title            watched               progress
            ep:2  two lines three  2026-02-01T00:00:00Z      50 %

          Learning paths
            id    title  updated               episodes
            lp:1  Paths  2026-01-08T00:00:00Z         5

          Cached: yes

          """)
    }
  }

  @Test func checkCountsWhatItHasChecked() throws {
    try withSampleStore { store in
      let check = try mooring("check", store: store)
      #expect(
        output(check) == """
          pages  entities  records  index entries  transactions  problems
             65        29        9             26             1         0

          """)
    }
  }

  @Test func setChangesALocalAttributeAndReportsIt() throws {
    try withSampleStore { store in
      let run = try mooring(
        "set", "Episode", "ep:5", "favoriteAt=2026-03-01T00:00:00Z", "progress=0.25", store: store)
      #expect(run.status == 0 && run.output.isEmpty)
      #expect(run.errors == "mooring: changed Episode/5\n")
      let row = try mooringDump(
        "records", "Episode", "--id", "5", "--select", "favoriteAt,progress", store: store)
      #expect(
        output(row) == #"{"_id":5,"favoriteAt":"2026-03-01T00:00:00Z","progress":0.25}"# + "\n")
      let quiet = try mooring("set", "Episode", "#5", "favoriteAt=null", "--quiet", store: store)
      #expect(output(quiet).isEmpty)
    }
  }

  @Test func feedsAreListedPausedResumedAndRemoved() throws {
    try withSampleStore { store in
      let url = try SampleStore.feedURL
      func states() throws -> [String] {
        try mooring("feed", "list", "--format", "csv", store: store).output
          .split(separator: "\r\n").dropFirst()
          .map { line in
            line.split(separator: ",", omittingEmptySubsequences: false)[1...3]
              .joined(separator: " ")
          }
      }
      #expect(try states() == ["\(url) homefeed/1 active"])
      #expect(try output(mooring("feed", "pause", url, store: store)).isEmpty)
      #expect(try states() == ["\(url) homefeed/1 paused"])
      #expect(try mooring("sync", url, store: store).status == 75)
      #expect(try output(mooring("feed", "resume", "1", store: store)).isEmpty)
      #expect(try states() == ["\(url) homefeed/1 active"])
      let shown = output(try mooring("feed", "show", "1", store: store))
      #expect(shown.contains("\nversion        9\n") && shown.contains("\nepoch          e1\n"))
      #expect(try output(mooring("feed", "remove", "1", store: store)).isEmpty)
      #expect(try states().isEmpty)
      let sync = try mooring("sync", store: store)
      expectFailure(sync, 69, "there are no feeds")
    }
  }

  @Test func migrationsAreListedInTheOrderOfTheirApplication() throws {
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      let up = try mooring("migrate", "up", store: store)
      #expect(
        up.errors == """
          mooring: created the store \(store)
          mooring: applied system 0001_chunked_writes
          mooring: applied system 0002_history
          mooring: applied system 0003_migrations
          mooring: applied system.feeds 0001_feeds
          mooring: applied system.feeds 0002_feed_manners
          mooring: applied system.feeds 0003_feed_mappings
          mooring: applied system.feeds 0004_feed_addresses
          mooring: applied system.feeds 0005_feed_settings
          mooring: applied system.feeds 0006_feed_folders
          mooring: applied homefeed 0001_home_feed
          mooring: applied homefeed 0002_learning_path_of_episode
          mooring: applied system.jobs 0001_jobs
          mooring: applied system.import 0001_import
          mooring: applied system.figures 0001_figures
          mooring: applied system.actions 0001_actions
          mooring: applied homefeed 0003_episode_content
          mooring: applied homefeed 0004_episodes_of_a_path

          """)
      let status = output(try mooring("migrate", "status", store: store))
      #expect(
        status.split(separator: "\n").map { $0.split(separator: " ").prefix(3) } == [
          ["line", "migration", "state"], ["system", "0001_chunked_writes", "applied"],
          ["system", "0002_history", "applied"], ["system", "0003_migrations", "applied"],
          ["system.feeds", "0001_feeds", "applied"],
          ["system.feeds", "0002_feed_manners", "applied"],
          ["system.feeds", "0003_feed_mappings", "applied"],
          ["system.feeds", "0004_feed_addresses", "applied"],
          ["system.feeds", "0005_feed_settings", "applied"],
          ["system.feeds", "0006_feed_folders", "applied"],
          ["homefeed", "0001_home_feed", "applied"],
          ["homefeed", "0002_learning_path_of_episode", "applied"],
          ["system.jobs", "0001_jobs", "applied"], ["system.import", "0001_import", "applied"],
          ["system.figures", "0001_figures", "applied"],
          ["system.actions", "0001_actions", "applied"],
          ["homefeed", "0003_episode_content", "applied"],
          ["homefeed", "0004_episodes_of_a_path", "applied"],
        ])
      #expect(try output(mooring("migrate", "plan", store: store)) == "nothing is pending\n")
      let again = try mooring("migrate", "up", store: store)
      #expect(again.status == 0 && again.errors == "mooring: nothing is pending\n")
    }
  }

  @Test func aPlanForAMissingStoreCreatesNone() throws {
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      let plan = output(try mooring("migrate", "plan", store: store))
      #expect(plan.contains("create entity Episode with 17 attributes"))
      #expect(!FileManager.default.fileExists(atPath: store))
    }
  }

  /// The output of `schema --as yaml` is a migration that creates the same schema.
  @Test func theSchemaAsYAMLMakesTheSameSchema() throws {
    try withTemporaryFolder { folder in
      let (store, copy) = (folder.path("store"), folder.path("copy"))
      try SampleStore.copy(to: store)
      let steps = output(try mooring("schema", "--as", "yaml", store: store))
      #expect(try output(mooringDump("schema", "--as", "yaml", store: store)) == steps)
      let body = steps.replacing("name: Episode\n", with: "name: Episode2\n")
        .replacing("on: Episode,", with: "on: Episode2,")
        .replacing("name: LearningPath\n", with: "name: Path2\n")
        .replacing("on: LearningPath,", with: "on: Path2,")
        .replacing("to: LearningPath,", with: "to: Path2,")
      let migrations = folder.path("migrations")
      try FileManager.default.createDirectory(
        atPath: migrations, withIntermediateDirectories: true)
      let file =
        "line: copy\nsummary: A copy\nsteps:\n"
        + body.split(separator: "\n").map { "  \($0)\n" }.joined()
      try Data(file.utf8).write(to: URL(fileURLWithPath: migrations + "/0001_copy.yaml"))
      #expect(try mooring("migrate", "up", "--migrations", migrations, store: copy).status == 0)
      let made = output(try mooringDump("schema", "--as", "yaml", store: copy))
      // Relationships come after all entities.
      let parts = body.split(separator: "- createRelationship:", maxSplits: 1)
      #expect(parts.count == 2)
      for part in parts { #expect(made.contains(part)) }
    }
  }

  /// The steps of relationships create their attributes and indexes.
  @Test func relationshipsAsYAMLMakeTheSameSchema() throws {
    let file = """
      line: books
      summary: Links of all kinds
      steps:
        - createEntity: { name: Book, attributes: [{ name: code, type: string }] }
        - createIndex: { on: Book, name: byCode, keys: [code], unique: true }
        - createEntity:
            name: Chapter
            attributes:
              - { name: rank, type: int64, optional: true }
              - { name: bookCode, type: string, optional: true }
        - createRelationship:
            on: Chapter
            name: book
            to: Book
            optional: false
            inverse: { name: chapters, ordered: true, deleteRule: cascade }
        - createRelationship: { on: Book, name: extras, to: Chapter, many: true, orderBy: rank, inverse: { name: extraOf, many: false } }
        - createRelationship: { on: Book, name: notes, to: Chapter, many: true }
        - createRelationship: { on: Book, name: related, to: Book, many: true, inverse: { name: related } }
        - createRelationship:
            { on: Chapter, name: coded, to: Book, key: { bookCode: code }, inverse: { name: codes, deleteRule: noAction } }
        - createRelationship: { on: Book, name: tags, to: Chapter, many: true, ordered: true, inverse: { name: tagged } }
      """
    func steps(_ file: String, in folder: TemporaryFolder, _ name: String) throws -> String {
      let (store, migrations) = (folder.path(name), folder.path(name + "-migrations"))
      try FileManager.default.createDirectory(
        atPath: migrations, withIntermediateDirectories: true)
      try Data(file.utf8).write(to: URL(fileURLWithPath: migrations + "/0001_books.yaml"))
      #expect(try mooring("migrate", "up", "--migrations", migrations, store: store).status == 0)
      let text = output(try mooringDump("schema", "--as", "yaml", store: store))
      let first = text.range(of: "- createEntity:\n    name: Book\n")?.lowerBound
      return text[(first ?? text.startIndex)...].split(separator: "\n")
        .filter { !$0.contains("on: Episode,") }.map { "\($0)\n" }.joined()
    }
    try withTemporaryFolder { folder in
      let made = try steps(file, in: folder, "first")
      #expect(made.split(separator: "\n").count { $0.hasPrefix("- createRelationship") } == 6)
      #expect(!made.contains(" _"))
      let copy =
        "line: books\nsummary: s\nsteps:\n"
        + made.split(separator: "\n").map { "  \($0)\n" }.joined()
      #expect(try steps(copy, in: folder, "second") == made)
    }
  }
}
