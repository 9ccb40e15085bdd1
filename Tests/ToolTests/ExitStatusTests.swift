import EntityModel
import EntityStore
import Foundation
import LMDB
import TestSupport
import Testing

/// The status of each kind of failure, and its message in one line.
@Suite struct ExitStatusTests {
  // MARK: Stores that cannot be used

  @Test(arguments: [
    ["home"], ["fetch", "Episode"], ["check"], ["schema"], ["migrate", "status"],
    ["feed", "list"],
    ["set", "Episode", "ep:1", "progress=0.5"], ["feed", "show", "1"], ["feed", "pause", "1"],
    ["backup", "/nonexistent/backup"], ["compact"],
  ])
  func aReaderCreatesNoStore(_ arguments: [String]) throws {
    try withTemporaryFolder { folder in
      let store = folder.path("none")
      expectFailure(try run("mooring", arguments, store: store), 69, store)
      #expect(!FileManager.default.fileExists(atPath: store))
    }
  }

  @Test(arguments: [
    ["schema"], ["records", "Episode"], ["index", "E", "i"], ["tables"], ["stats"],
  ])
  func theDumpCreatesNoStore(_ arguments: [String]) throws {
    try withTemporaryFolder { folder in
      let store = folder.path("none")
      let run = try run("mooring-dump", arguments, store: store)
      expectFailure(run, 69, store, tool: "mooring-dump")
      #expect(!FileManager.default.fileExists(atPath: store))
    }
  }

  @Test(arguments: [["migrate", "up"], ["feed", "add", "http://127.0.0.1:9/feed"]])
  func aWriterCreatesTheStore(_ arguments: [String]) throws {
    try withTemporaryFolder { folder in
      let store = folder.path("a/b c/store")
      #expect(try run("mooring", arguments, store: store).status == 0)
      #expect(try mooring("check", store: store).status == 0)
      let attributes = try FileManager.default.attributesOfItem(atPath: store)
      #expect(attributes[.posixPermissions] as? Int == 0o700)
    }
  }

  @Test func aPathThatIsAFileCannotHoldAStore() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("file")
      try Data().write(to: URL(fileURLWithPath: path))
      expectFailure(try mooring("home", store: path), 73, path)
      expectFailure(try mooring("check", store: path), 73, path)
      expectFailure(try mooring("migrate", "up", store: path), 73, path)
      expectFailure(try mooringDump("stats", store: path), 73, path, tool: "mooring-dump")
    }
  }

  @Test func aFolderOfAnotherProgramIsNotChanged() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("other")
      do {
        let environment = try Environment.open(at: path, options: .init(createIfMissing: true))
        try environment.write { _ = try environment.createTree(named: "theirs", in: $0) }
      }
      expectFailure(try mooring("home", store: path), 65, "no Mooring store")
      expectFailure(try mooring("migrate", "up", store: path), 65, "another program's")
      #expect(try mooring("check", store: path).status == 65)
    }
  }

  @Test func aNewerFormatIsRefusedByAll() throws {
    try withSampleStore { store in
      try patchHeader(store) { $0[8] = 2 }
      for arguments in [
        ["home"], ["fetch", "E"], ["check"], ["migrate", "up"], ["feed", "list"],
      ] {
        expectFailure(
          try run("mooring", arguments, store: store), 78, "a newer version", "store format: 2")
      }
      expectFailure(
        try mooringDump("stats", store: store), 78, "a newer version", tool: "mooring-dump")
    }
  }

  private func patchHeader(_ folder: String, _ change: (inout [UInt8]) -> Void) throws {
    let environment = try Environment.open(at: folder)
    try environment.write { transaction in
      let tree = try #require(try environment.tree(named: "catalog", in: transaction))
      let key = Array("header".utf8)
      var header = Array(try #require(try transaction.get(tree, key)))
      change(&header)
      try transaction.put(tree, key: key, value: header)
    }
  }

  // MARK: Migrations

  private static let extra = """
    line: local
    summary: A note on an episode
    steps:
      - addAttribute: { to: Episode, name: note, type: string, optional: true, owner: local }
    """

  private func migrations(in folder: TemporaryFolder) throws -> String {
    let path = folder.path("migrations")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Data(Self.extra.utf8).write(to: URL(fileURLWithPath: path + "/0001_note.yaml"))
    return path
  }

  private static let readers = [
    ["home"], ["fetch", "Episode"], ["check"], ["schema"], ["feed", "list"],
  ]
  private static let writers = [
    ["set", "Episode", "ep:1", "progress=0.5"], ["feed", "pause", "1"],
    ["feed", "add", "http://127.0.0.1:9/other"],
  ]

  @Test func aStoreWithPendingMigrationsIsReadAndNotWritten() throws {
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      try SampleStore.copy(to: store)
      let extra = ["--migrations", try migrations(in: folder)]
      for arguments in Self.readers {
        #expect(try run("mooring", arguments + extra, store: store).status == 0)
      }
      for arguments in Self.writers {
        expectFailure(
          try run("mooring", arguments + extra, store: store), 78, "local 0001_note",
          "mooring migrate plan")
      }
      let plan = try run("mooring", ["migrate", "plan"] + extra, store: store)
      #expect(plan.output.contains("add attribute Episode.note (string)"))
      #expect(try run("mooring", ["migrate", "up"] + extra, store: store).status == 0)
      let set = try run(
        "mooring", ["set", "Episode", "ep:1", "note=again"] + extra, store: store)
      #expect(set.status == 0)
      let status = try mooring("migrate", "status", "--format", "csv", store: store)
      #expect(
        status.output.split(separator: "\r\n").map { $0.split(separator: ",")[1] } == [
          "migration", "0001_chunked_writes", "0002_history", "0003_migrations", "0001_feeds",
          "0002_feed_manners", "0003_feed_mappings", "0004_feed_addresses", "0005_feed_settings",
          "0006_feed_folders", "0001_home_feed", "0002_learning_path_of_episode", "0001_jobs",
          "0001_import", "0001_figures", "0001_actions", "0003_episode_content",
          "0004_episodes_of_a_path",
          "0001_note",
        ])
    }
  }

  @Test func aStoreOfANewerProgramIsReadAndNotWritten() throws {
    try withSampleStore { store in
      let environment = try Environment.open(at: store)
      try environment.write { transaction in
        let tree = try #require(try environment.tree(named: "catalog", in: transaction))
        let entry = """
          {"appliedAt":0,"checksum":"c1:0","line":"homefeed","name":"0005_later","sequence":18,\
          "version":5}
          """
        try transaction.put(
          tree, key: Array("applied:homefeed:000005".utf8), value: Array(entry.utf8))
        try CatalogSeal.write(tree, in: transaction)
      }
      // The schema's revision did not change, so that commands see it only when they open.
      for arguments in Self.readers {
        #expect(try run("mooring", arguments, store: store).status == 0)
      }
      for arguments in Self.writers + [["migrate", "up"]] {
        expectFailure(
          try run("mooring", arguments, store: store), 78, "0005_later", "newer version")
      }
      let status = try mooring("migrate", "status", store: store)
      let last = status.lines.last ?? status.errors
      #expect(last.contains("applied by a newer program"), "\(last)")
    }
  }

  @Test func migrationsThatCannotBeReadAreRefusedInOneLine() throws {
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      expectFailure(
        try mooring("migrate", "up", "--migrations", folder.path("none"), store: store), 78,
        folder.path("none"))
      let path = try migrations(in: folder)
      let file = path + "/0001_note.yaml"
      try Data((Self.extra + "\n  - frobnicate: {}\n").utf8).write(to: URL(fileURLWithPath: file))
      let run = try mooring("migrate", "up", "--migrations", path, store: store)
      #expect(run.status == 78)
      #expect(run.messages.count == 1)
      #expect(run.errors.hasPrefix("\(file):5:5: unknown step \"frobnicate\""), "\(run.errors)")
      #expect(!FileManager.default.fileExists(atPath: store))
    }
  }

  // MARK: What is asked for

  @Test func unknownNamesAndValuesAreRefused() throws {
    try withSampleStore { store in
      func set(_ arguments: String...) throws -> ToolRun {
        try run("mooring", ["set"] + arguments, store: store)
      }
      expectFailure(try set("Nope", "1", "a=b"), 64, "Nope", "Episode, LearningPath")
      expectFailure(try set("Episode", "ep:1", "nope=1"), 64, "nope", "progress")
      expectFailure(try set("Episode", "ep:99", "progress=1"), 69, "ep:99")
      expectFailure(try set("Episode", "#99", "progress=1"), 69, "#99")
      expectFailure(try set("Episode", "ep:1", "progress=half"), 64, "half", "double")
      expectFailure(try set("Episode", "ep:1", "progress"), 64, "attribute=value")
      expectFailure(try set("Episode", "ep:1", "progress=2"), 65, "progress")
      expectFailure(try set("Episode", "ep:1", "title=mine"), 77, "title", "favoriteAt")
      expectFailure(try mooring("sync", "7", store: store), 69, "7")
      expectFailure(try mooring("feed", "show", "http://no.example/", store: store), 69)
      expectFailure(try mooring("feed", "remove", "99", store: store), 69)
      expectFailure(try mooring("sync", "ftp://example.org/", store: store), 64, "ftp")
      #expect(try mooring("check", store: store).status == 0)
    }
  }

  @Test func theDumpRefusesUnknownNames() throws {
    try withSampleStore { store in
      func dump(_ arguments: String..., status: Int32, _ part: String) throws {
        let run = try run("mooring-dump", arguments, store: store)
        expectFailure(run, status, part, tool: "mooring-dump")
        #expect(run.output.isEmpty)
      }
      try dump("records", "Nope", status: 64, "Nope")
      try dump("records", "Episode", "--select", "id,nope", status: 64, "nope")
      try dump("records", "Episode", "--id", "99", status: 69, "Episode/99")
      try dump("index", "Episode", "nope", status: 64, "byUpdate")
      try dump("records", "Episode", "--limit", "-1", status: 64, "--limit")
      try dump("stats", "--format", "csv", status: 64, "table or json")
    }
  }

  @Test func anInvalidCommandLineIsReportedInTheFirstLine() throws {
    let cases: [([String], String)] = [
      (["hoem"], #"mooring: unknown command "hoem"; did you mean "home"?"#),
      (["migrate", "stats"], #"mooring: unknown command "stats"; did you mean "status"?"#),
      (
        ["frobnicate"],
        #"mooring: unknown command "frobnicate"; known are sync, feed, home, fetch, set, batch, jobs, "#
          + "migrate, import, schema, check, export, backup, restore, compact, hub, worker, config, "
          + "status, top, serve, report"
      ),
      (["home", "--limt", "3"], "mooring: Unknown option '--limt'. Did you mean '--limit'?"),
      (["home", "--limit", "x"], "mooring: The value 'x' is invalid for '--limit <limit>'"),
      (
        ["home", "--map-size", "1"],
        #"mooring: "1" is no size of a map; write 64G or 512M, at least 1M"#
      ),
    ]
    for (arguments, message) in cases {
      let run = try run("mooring", arguments, store: "/nonexistent")
      #expect(run.status == 64)
      #expect(run.errors.split(separator: "\n").first.map(String.init) == message)
      #expect(run.output.isEmpty)
    }
  }

  @Test(arguments: ["mooring", "mooring-dump", "feed-server"])
  func helpAndVersionAreNoErrors(_ tool: String) throws {
    #expect(try run(tool, ["--help"], store: "/nonexistent").output.hasPrefix("OVERVIEW: "))
    if tool == "feed-server" { return }
    let bare = try run(tool, [], store: "/nonexistent")
    #expect(bare.status == 0 && bare.output.hasPrefix("OVERVIEW: "))
    let version = try run(tool, ["--version"], store: "/nonexistent")
    #expect(version.status == 0 && version.lines.count == 1 && version.errors.isEmpty)
  }

  @Test(arguments: [
    (["--version", "--verbos"], #"unknown argument "--verbos"; did you mean "--verbose"?"#),
    (["--colour", "--version"], #"unknown argument "--colour"; --version goes with"#),
    (["--version", "sync"], #"unknown argument "sync"; --version goes with"#),
  ])
  func theVersionTakesNoUnknownArguments(_ arguments: [String], _ message: String) throws {
    for tool in ["mooring", "mooring-dump"] {
      let run = try run(tool, arguments, store: "/nonexistent")
      expectFailure(run, 64, message, tool: tool)
      #expect(run.output.isEmpty)
    }
  }

  @Test(arguments: [
    ("mooring", ["commit", "Swift", "LMDB", "ICU", "curl", "SQLite"]),
    ("mooring-dump", ["commit", "Swift", "LMDB", "ICU"]),
  ])
  func theVerboseVersionNamesWhatTheProgramConsistsOf(
    _ tool: String, _ names: [String]
  ) throws {
    let version = try run(tool, ["--version", "--verbose"], store: "/nonexistent")
    #expect(version.status == 0 && version.errors.isEmpty)
    let facts = version.lines.dropFirst().map { $0.split(separator: ": ").map(String.init) }
    #expect(facts.map(\.first) == names)
    #expect(facts.dropFirst().allSatisfy { $0.last?.first?.isNumber == true }, "\(facts)")
  }

  // MARK: Others at work

  @Test func aWaitingWriterNamesTheHolderOfTheLock() throws {
    try withSampleStore { store in
      let holder = try ChildProcess(
        childExecutable(named: "store-child"), ["lmdb-hold-writer", store])
      #expect(holder.readLine()?.hasPrefix("writing") == true)
      let run = try mooring(
        "set", "Episode", "ep:1", "progress=0.5", "--wait-for-writer", "0.2", store: store)
      expectFailure(run, 75, "pid: \(holder.pid)", "store-child")
      // Readers do not wait.
      #expect(try mooring("home", store: store).status == 0)
      try holder.writeLine("go on")
      #expect(holder.waitForExit().status == 0)
      let again = try mooring("set", "Episode", "ep:1", "progress=0.5", store: store)
      #expect(again.status == 0)
    }
  }
}
