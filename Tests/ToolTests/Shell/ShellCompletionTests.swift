import Foundation
import TestSupport
import Testing

/// The values that the commands offer to the completions of shells.
@Suite struct ShellCompletionTests {
  /// Asks for the last of the words, as the script of a shell does.
  ///
  /// - Parameter argument: The argument that the word belongs to: an option, or `positional@0`.
  private func answers(
    _ argument: String, of verbs: [String], to words: [String], shell: String = "fish",
    store: String, tool: String = "mooring"
  ) throws -> [String] {
    let line = [tool] + verbs + words
    let call =
      ["---completion"] + verbs + ["--", argument, String(line.count - 1)]
      + [String(line[line.count - 1].count)] + line
    let run = try run(tool, call, store: store, environment: ["SAP_SHELL": shell])
    #expect(run.status == 0)
    #expect(run.errors.isEmpty, "\(run.errors)")
    return run.output.split(separator: "\n").map(String.init)
  }

  private func expect(
    _ expected: String..., from argument: String, of verbs: String..., to words: [String],
    store: String, tool: String = "mooring", sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = try answers(argument, of: verbs, to: words, store: store, tool: tool)
    #expect(found == expected, sourceLocation: sourceLocation)
  }

  @Test func entitiesAndAttributesComeFromTheStore() throws {
    try withSampleStore { store in
      try expect("Episode", from: "positional@0", of: "fetch", to: ["Ep"], store: store)
      try expect(
        "id,title", from: "--select", of: "fetch", to: ["Episode", "--select", "id,tit"],
        store: store)
      try expect(
        "title,updatedAt:asc", "title,updatedAt:desc", from: "--sort", of: "fetch",
        to: ["Episode", "--sort", "title,updatedAt:"], store: store)
      try expect(
        "n=count:", "n=countDistinct:", from: "--aggregate", of: "fetch",
        to: ["Episode", "--aggregate", "n=co"], store: store)
      try expect(
        "byUpdate", from: "positional@1", of: "index", to: ["Episode", "byUp"], store: store,
        tool: "mooring-dump")
      let system = try answers(
        "positional@0", of: ["records"], to: ["_Fee"], store: store, tool: "mooring-dump")
      #expect(system.contains("_Feed"))
    }
  }

  @Test func assignmentsHaveTheWordsOfTheirType() throws {
    try withSampleStore { store in
      try expect(
        "favoriteAt=now", "favoriteAt=null", from: "positional@2", of: "set",
        to: ["Episode", "ep:1", "favoriteAt="], store: store)
      try expect(
        "favoriteAt=\tdate", from: "positional@2", of: "set", to: ["Episode", "ep:1", "fav"],
        store: store)
    }
  }

  @Test func feedsCompleteByURLAndByNumber() throws {
    try withSampleStore { store in
      let url = try SampleStore.feedURL
      let urls = try answers("positional@0", of: ["feed", "show"], to: ["http"], store: store)
      #expect(urls.map { String($0.prefix { $0 != "\t" }) } == [url])
      try expect("1\t\(url)", from: "positional@0", of: "feed", "show", to: ["1"], store: store)
    }
  }

  @Test func jobsAndQueuesComplete() throws {
    try withSampleStore { store in
      let enqueued = try mooring(
        "jobs", "enqueue", "store.check", "--queue", "night", store: store)
      #expect(enqueued.status == 0, "\(enqueued.errors)")
      let jobs = try answers("positional@0", of: ["jobs", "show"], to: [""], store: store)
      #expect(jobs.contains { $0.hasSuffix("\tstore.check ready") }, "\(jobs)")
      try expect("night", from: "positional@0", of: "jobs", "pause", to: ["n"], store: store)
    }
  }

  @Test func templatesComplete() throws {
    try withTemporaryFolder { folder in
      let line = folder.path("line")
      try FileManager.default.createDirectory(atPath: line, withIntermediateDirectories: true)
      try """
      line: local
      summary: A stored request
      requires: [homefeed@1]
      steps:
        - createTemplate: { name: freshOnes, entity: Episode, where: progress == 0 }
      """.write(toFile: line + "/0001_fresh.yaml", atomically: true, encoding: .utf8)
      let store = folder.path("store")
      let up = try mooring("migrate", "up", "--migrations", line, store: store)
      #expect(up.status == 0, "\(up.errors)")
      try expect(
        "freshOnes", from: "--template", of: "fetch", to: ["--template", "fr"], store: store)
    }
  }

  @Test func withoutAStoreNothingIsOffered() throws {
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      try expect(from: "positional@0", of: "fetch", to: [""], store: store)
      #expect(!FileManager.default.fileExists(atPath: store))
    }
  }

  @Test func aDamagedStoreOffersNothing() throws {
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      try SampleStore.write(Array(try SampleStore.bytes.prefix(10_000)), to: store)
      try expect(from: "positional@0", of: "fetch", to: [""], store: store)
    }
  }

  @Test func completionsChangeNothing() throws {
    try withSampleStore { store in
      let file = URL(fileURLWithPath: store + "/data.mdb")
      let before = try Data(contentsOf: file)
      _ = try answers("positional@0", of: ["feed", "show"], to: [""], store: store)
      let after = try Data(contentsOf: file)
      #expect(after == before)
    }
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func theScriptsAskTheCommands(_ shell: String) throws {
    for tool in ["mooring", "mooring-dump"] {
      let script = try run(tool, ["--generate-completion-script", shell], store: "/nowhere")
      #expect(script.status == 0)
      #expect(script.output.contains("---completion"))
    }
  }

  @Test func fishWithoutATerminalGetsAnswersAndNoErrors() throws {
    let fish = "/usr/bin/fish"
    guard FileManager.default.isExecutableFile(atPath: fish) else { return }
    try withSampleStore { store in
      let session = """
        PATH="$(dirname "$1"):$PATH" exec \(fish) --no-config --command '
          mooring --generate-completion-script fish | source
          complete --do-complete "mooring fetch Ep"'
        """
      let run = try run("mooring", [], in: session, store: store)
      #expect(run.status == 0)
      #expect(run.output == "Episode\n")
      #expect(run.errors.isEmpty, "\(run.errors)")
    }
  }
}
