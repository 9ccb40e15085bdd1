import Foundation
import TestSupport
import Testing

@Suite struct ImportInspectTests {
  /// An unknown cache file, through every command that the previous one prints.
  @Test func eachCommandLeadsToTheNext() throws {
    try withOldLibrary(isMigrated: false) { library in
      let map = library.folder.path("my map.yaml")
      let inspect = try library.tool([
        "import", "inspect", library.file, "--mapping", map, "--migration", library.migrations,
      ])
      try #require(inspect.status == 0, "\(inspect.errors)")
      #expect(inspect.output.hasPrefix("\(library.file): a SQLite file, 2 tables for 2 entities\n"))
      #expect(
        inspect.output.contains("wrote \(map) and \(library.migrations)/0001_old_books.yaml\n"))
      try confirm(map)
      let commands = inspect.lines.filter { $0.hasPrefix("  mooring ") }
      try #require(commands.count == 2, "\(inspect.output)")
      let up = try shell(commands[0], library)
      #expect(up.status == 0 && up.errors.contains("applied old-books 0001_old_books"))
      let plan = try shell(commands[1], library)
      #expect(plan.status == 0, "\(plan.output)\(plan.errors)")
      let run = try shell(try command(in: plan), library)
      #expect(run.status == 0 && run.output.contains("\nBALANCED: "), "\(run.errors)")
      let status = try shell(try command(in: run), library)
      #expect(status.output.contains("state    balanced\n"))
      let again = try shell(try command(in: plan), library)
      #expect(again.status == 0 && again.output.contains("\nBook      0        0         30"))
    }
  }

  @Test func existingFilesAreNotOverwrittenByDefault() throws {
    try withOldLibrary(isMigrated: false) { library in
      let map = library.folder.path("new.yaml")
      let words = [
        "import", "inspect", library.file, "--mapping", map, "--migration", library.migrations,
        "--quiet",
      ]
      #expect(try library.tool(words).status == 0)
      try library.write("mine", to: map)
      expectFailure(try library.tool(words), 73, "\(map) is there already", "--force")
      #expect(try String(contentsOfFile: map, encoding: .utf8) == "mine")
      expectFailure(
        try library.tool(Array(words[0...2]) + Array(words[5...])), 73,
        "has migrations of the line old-books already (0001_old_books)")
      #expect(try library.tool(words + ["--force"]).status == 0)
      #expect(try String(contentsOfFile: map, encoding: .utf8) != "mine")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: library.migrations)
          == ["0001_old_books.yaml"])
      // Another name is another line, with a number of its own.
      #expect(
        try library.tool(Array(words[0...2]) + Array(words[5...]) + ["--name", "shelves"]).status
          == 0)
      #expect(
        FileManager.default.fileExists(atPath: library.migrations + "/0001_shelves.yaml"))
    }
  }

  @Test func theFilesCanBePrintedAndJSONHasAll() throws {
    try withOldLibrary(isMigrated: false) { library in
      let map = library.folder.path("map of inspect.yaml")
      #expect(
        try library.tool(["import", "inspect", library.file, "--mapping", map]).status == 0)
      let mapping = try library.tool(["import", "inspect", library.file, "--as", "mapping"])
      #expect(try mapping.output == String(contentsOfFile: map, encoding: .utf8))
      let migration = try library.tool(["import", "inspect", library.file, "--as", "migration"])
      #expect(migration.output.hasPrefix("line: old-books\n"))
      let all = try json(
        try library.tool(["import", "inspect", library.file, "--format", "json", "--quiet"]))
      #expect(all["mapping"] as? String == mapping.output)
      #expect(all["migration"] as? String == migration.output)
      #expect(all["dialect"] as? String == "plain" && all["name"] as? String == "old-books")
      let entities = try #require(all["entities"] as? [[String: Any]])
      #expect(Set(entities.map { $0["rows"] as? Int }) == [3, 30])
    }
  }

  @Test func anEntityOfAnotherLineIsNotCreatedTwice() throws {
    try withTemporaryFolder { folder in
      let library = OldLibrary(folder: folder)
      try library.sql("CREATE TABLE episode (id INTEGER PRIMARY KEY, title TEXT)")
      let map = folder.path("new.yaml")
      let inspect = try library.tool([
        "import", "inspect", library.file, "--mapping", map, "--migration", library.migrations,
      ])
      #expect(
        inspect.output.contains(
          "warning: there is an entity Episode of another origin: this one is called "
            + "OldBooksEpisode\n"), "\(inspect.output)")
      #expect(inspect.output.contains("there is no store at \(library.store)"))
      let up = try library.tool(["migrate", "up", "--migrations", library.migrations])
      #expect(up.status == 0, "\(up.errors)")
    }
  }

  @Test func entitiesOfAnotherImportAndOfTheStoreAreNotCreatedTwice() throws {
    try withOldLibrary(isMigrated: false) { library in
      func inspect(_ name: String, _ more: [String]) throws -> ToolRun {
        try library.tool(
          [
            "import", "inspect", library.file, "--name", name, "--mapping",
            library.folder.path("\(name).yaml"),
          ] + more)
      }
      let folder = ["--migration", library.migrations]
      let first = try inspect("one", folder)
      #expect(first.status == 0 && !first.output.contains("of another origin"))
      // The other import lies in the folder, and was not applied.
      let second = try inspect("two", folder)
      #expect(second.output.contains("this one is called TwoBook"), "\(second.output)")
      let up = try library.tool(["migrate", "up", "--migrations", library.migrations])
      #expect(up.status == 0, "\(up.errors)")
      // Only the store has the entities now.
      let third = try inspect("three", [])
      #expect(third.output.contains("this one is called ThreeShelf"), "\(third.output)")
      #expect(!third.output.contains("there is no store"))
      // An import does not clash with itself.
      let again = try inspect("one", folder + ["--force"])
      #expect(again.status == 0 && !again.output.contains("of another origin"), "\(again.output)")
    }
  }

  private func confirm(_ map: String) throws {
    let text = try String(contentsOfFile: map, encoding: .utf8)
    try Data(text.replacing(/,? *unconfirmed: ("[^"]*"|[^,}]*)/, with: "").utf8)
      .write(to: URL(fileURLWithPath: map))
  }

  private func command(in run: ToolRun) throws -> String {
    let parts = run.output.split(separator: "`")
    return String(try #require(parts.first { $0.hasPrefix("mooring ") }, "\(run.output)"))
  }

  /// Runs a printed command as if it were pasted.
  private func shell(_ command: String, _ library: OldLibrary) throws -> ToolRun {
    let tools = childExecutable(named: "mooring").deletingLastPathComponent().path
    let process = SpawnedProcess()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    let output = library.folder.path("output")
    let errors = library.folder.path("errors")
    process.arguments = ["-c", "{ \(command) ; } > '\(output)' 2> '\(errors)' < /dev/null"]
    process.environment = ["PATH": tools + ":/usr/bin:/bin", "MOORING_STORE": library.store]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return ToolRun(
      status: process.terminationStatus,
      output: try String(contentsOfFile: output, encoding: .utf8),
      errors: try String(contentsOfFile: errors, encoding: .utf8))
  }
}
