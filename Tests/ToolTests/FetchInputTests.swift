import Foundation
import TestSupport
import Testing

/// Where the predicates of `mooring fetch` come from, and where its output goes.
@Suite struct FetchInputTests {
  // MARK: Where predicates come from

  @Test func variablesAreConstantsOrTexts() throws {
    try withSampleStore { store throws in
      func count(_ predicate: String, _ value: String) throws -> String {
        try mooring(
          "fetch", "Episode", "--where", predicate, "--variable", "x=\(value)", "--count",
          store: store
        ).output
      }
      #expect(try count("id == $x", "ep:3") == "1\n")
      #expect(try count("id == $x", "\"ep:3\"") == "1\n")
      #expect(try count("title == $x", "plain") == "1\n")
      #expect(try count("title == $x", "two\nlines\r\nthree") == "1\n")
      #expect(try count("duration > $x", "250") == "3\n")
      #expect(try count("duration > $x", "-5") == "5\n")
      #expect(try count("watchedAt == $x", "nil") == "4\n")
      #expect(try count("updatedAt >= $x", "2026-01-04T00:00:00Z") == "2\n")
      #expect(try count("updatedAt >= $x", "DATE \"2026-01-04T00:00:00Z\"") == "2\n")
      #expect(try count("duration IN $x", "{100, 300}") == "2\n")
      #expect(try count("title == $x", "") == "0\n")
    }
  }

  @Test func aPredicateMayComeFromAFileOrStandardInput() throws {
    try withSampleStore { store in
      let file = store + "/predicate"
      // About 700,000 bytes, far beyond what one argument may hold.
      let list = (0..<90_000).map { String($0 + 250) }.joined(separator: ", ")
      try Data("duration IN {\(list)}\n".utf8).write(to: URL(fileURLWithPath: file))
      #expect(try fetch(store, "Episode", "--where", "@" + file, "--count") == "3\n")
      let piped = try shell(
        "echo 'duration > 300' | mooring fetch Episode --where - --count", store)
      #expect(piped.output == "2\n" && piped.status == 0)
      try Data(repeating: UInt8(ascii: " "), count: 1 << 20 + 1).write(
        to: URL(fileURLWithPath: file))
      expectFailure(
        try mooring("fetch", "Episode", "--where", "@" + file, store: store), 64, "1 MiB", file)
      try Data([0x61, 0xFF]).write(to: URL(fileURLWithPath: file))
      expectFailure(
        try mooring("fetch", "Episode", "--where", "@" + file, store: store), 65, "UTF-8")
      expectFailure(
        try mooring("fetch", "Episode", "--where", "@/none", store: store), 69, "/none")
    }
  }

  /// Near the 128 KiB that the system passes as one argument.
  @Test func aLongArgumentIsAnswered() throws {
    try withSampleStore { store throws in
      let predicate = (0..<4_000).map { "duration == \($0 * 100)" }.joined(separator: " OR ")
      #expect(predicate.utf8.count > 80_000)
      #expect(try fetch(store, "Episode", "--where", predicate, "--count") == "5\n")
    }
  }

  // MARK: Relationships and templates

  @Test func pathsGoThroughRelationships() throws {
    try withSampleStore { store throws in
      #expect(
        try fetch(
          store, "Episode", "--where", "path.title == 'Paths'", "--sort",
          "path.title,position:desc",
          "--limit", "1", "--select", "id,path.title,of=path.episodes.@count")
          == "id    path.title  of\nep:5  Paths        5\n")
      #expect(
        try fetch(store, "Episode", "--group-by", "path.title", "--aggregate", "n=count:*")
          == "path.title  n\nPaths       5\n")
      #expect(
        try fetch(
          store, "LearningPath", "--where", "ANY episodes.duration > 400", "--ids")
          == "LearningPath/1\n")
    }
  }

  private static let extra = """
    line: local
    summary: A template
    steps:
      - createTemplate:
          name: longInPath
          entity: Episode
          where: path.title == $PATH AND duration >= $LEAST
          sortBy: [duration desc]
          limit: 2
    """

  private func withTemplate(_ body: (String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      try SampleStore.copy(to: store)
      let migrations = folder.path("migrations")
      try FileManager.default.createDirectory(
        atPath: migrations, withIntermediateDirectories: true)
      try Data(Self.extra.utf8).write(to: URL(fileURLWithPath: migrations + "/0001_extra.yaml"))
      let up = try mooring("migrate", "up", "--migrations", migrations, store: store)
      #expect(up.status == 0, "\(up.errors)")
      try body(store)
    }
  }

  @Test func aTemplateIsRunWithItsVariables() throws {
    try withTemplate { store in
      let values = ["--variable", "PATH=Paths", "--variable", "LEAST=200"]
      func answer(_ more: String...) throws -> ToolRun {
        try run("mooring", ["fetch", "--template", "longInPath"] + more, store: store)
      }
      func ids(_ more: String...) throws -> String {
        let more = values + ["--ids"] + more
        return try run(
          "mooring", ["fetch", "--template", "longInPath"] + more, store: store
        ).output
      }
      #expect(try ids() == "Episode/5\nEpisode/4\n")
      #expect(
        try ids("--limit", "4", "--sort", "duration")
          == "Episode/2\nEpisode/3\nEpisode/4\nEpisode/5\n")
      #expect(try ids("--where", "type == $T", "--variable", "T=2") == "Episode/4\n")
      let rows = try answer(
        "--variable", "PATH=Paths", "--variable", "LEAST=500", "--format", "csv")
      #expect(rows.output.hasPrefix("_id,id,title") && rows.output.contains("\r\n5,ep:5,plain,"))
      expectFailure(
        try answer("--variable", "PATH=x"), 64, "$LEAST has no value; add --variable LEAST=VALUE")
      expectFailure(
        try mooring("fetch", "LearningPath", "--template", "longInPath", store: store), 64,
        "is about Episode, not LearningPath")
      expectFailure(
        try mooring("fetch", "--template", "longInPaht", store: store), 64,
        "did you mean \"longInPath\"?")
    }
  }

  // MARK: Output

  @Test func aClosedPipeEndsTheFetchQuietly() throws {
    try withSampleStore { store in
      for format in ["jsonl", "csv", "table"] {
        let once = "mooring fetch Episode --format \(format)"
        let many = Array(repeating: once, count: 40).joined(separator: " && ")
        let run = try shell("set -o pipefail; (\(many)) | head -1", store)
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(run.output.split(separator: "\n").count == 1)
      }
    }
  }

  @Test func nothingIsWrittenToTheStore() throws {
    try withSampleStore { store in
      let before = try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb"))
      _ = try fetch(store, "Episode", "--sort", "title:localized")
      _ = try fetch(store, "Episode", "--group-by", "type", "--explain")
      #expect(try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb")) == before)
    }
  }

  private func shell(_ script: String, _ store: String) throws -> ToolRun {
    let tools = childExecutable(named: "mooring").deletingLastPathComponent().path
    let (output, errors) = (Pipe(), Pipe())
    let process = SpawnedProcess()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", script]
    process.environment = ["MOORING_STORE": store, "PATH": "\(tools):/usr/bin:/bin"]
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return ToolRun(status: process.terminationStatus, output: text, errors: said)
  }
}
