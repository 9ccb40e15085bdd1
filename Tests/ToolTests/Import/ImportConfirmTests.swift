import Foundation
import TestSupport
import Testing

@Suite struct ImportConfirmTests {
  private static let tables = """
    CREATE TABLE blocked_user (id INTEGER PRIMARY KEY, reason TEXT);
    CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE post (id INTEGER PRIMARY KEY, user_id INTEGER, updated INTEGER, played INTEGER);
    INSERT INTO blocked_user VALUES (1, 'spam'), (2, 'abuse'), (3, 'bot');
    INSERT INTO user VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Cem');
    INSERT INTO post VALUES (1, 3, 132464128, 0), (2, 1, 132471424, 1), (3, 2, 132814976, 0);
    """

  /// Runs a body with the files that an inspection has written: three guesses are marked.
  private func withProposal(_ body: (OldLibrary) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let library = OldLibrary(folder: folder)
      try library.sql(Self.tables)
      let inspect = try library.tool([
        "import", "inspect", library.file, "--mapping", library.mapping, "--migration",
        library.migrations,
      ])
      try #require(inspect.status == 0, "\(inspect.errors)")
      #expect(inspect.output.contains("mooring import confirm --mapping \(library.mapping)"))
      try body(library)
      if FileManager.default.fileExists(atPath: library.store) {
        let check = try mooring("check", store: library.store)
        #expect(check.status == 0, "\(check.output)\(check.errors)")
      }
    }
  }

  private func confirm(_ library: OldLibrary, _ choices: String...) throws -> ToolRun {
    try library.tool(
      ["import", "confirm", "--mapping", library.mapping, "--migrations", library.migrations]
        + choices)
  }

  private func up(_ library: OldLibrary, _ more: String...) throws -> ToolRun {
    try library.tool(["migrate", "up", "--migrations", library.migrations] + more)
  }

  private func values(_ library: OldLibrary) throws -> String {
    try library.tool([
      "fetch", "Post", "--sort", "id", "--format", "csv", "--migrations", library.migrations,
    ]).output
  }

  @Test func guessesAreListedConfirmedAndImported() throws {
    try withProposal { library in
      let list = try confirm(library)
      #expect(
        list.lines.map { $0.prefix { $0 != ":" } } == ["Post.updated", "Post.played", "Post.user"])
      let first = try confirm(library, "Post.updated=int64")
      #expect(first.status == 0, "\(first.errors)")
      #expect(first.output.contains("the type of Post.updated becomes int64\n"))
      #expect(first.output.contains("\nto be confirmed: Post.user: "))
      let rest = try confirm(library, "--rest")
      #expect(rest.status == 0 && !rest.output.contains("to be confirmed"), "\(rest.errors)")
      #expect(try confirm(library).output == "the mapping has no guesses to confirm\n")
      let applied = try up(library)
      #expect(applied.status == 0, "\(applied.errors)")
      let run = try library.take("run", "--quiet", "--migrations", library.migrations)
      #expect(run.status == 0 && run.output.contains("\nBALANCED: "), "\(run.output)\(run.errors)")
      #expect(run.output.contains("Post.user"))
      let written = try values(library)
      #expect(written.contains("132464128") && !written.contains("userId"), "\(written)")
    }
  }

  @Test func anAppliedMigrationGetsASecondFile() throws {
    try withProposal { library in
      let path = library.migrations + "/0001_old_books.yaml"
      let before = try String(contentsOfFile: path, encoding: .utf8)
      #expect(try up(library).status == 0)
      let plan = try library.take("plan", "--quiet", "--migrations", library.migrations)
      #expect(plan.output.contains("import confirm --mapping"), "\(plan.output)\(plan.errors)")
      let confirmed = try confirm(library, "Post.updated=int64", "Post.user=blocked_user", "--rest")
      #expect(confirmed.status == 0, "\(confirmed.errors)")
      #expect(confirmed.output.contains("the migration was applied already"))
      #expect(confirmed.output.contains("--allow-destructive"))
      #expect(try String(contentsOfFile: path, encoding: .utf8) == before)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: library.migrations).sorted()
          == ["0001_old_books.yaml", "0002_confirmed.yaml"])
      let applied = try up(library, "--allow-destructive")
      #expect(applied.status == 0, "\(applied.errors)")
      let run = try library.take("run", "--quiet", "--migrations", library.migrations)
      #expect(run.status == 0 && run.output.contains("\nBALANCED: "), "\(run.output)\(run.errors)")
      #expect(try values(library).contains("132464128"))
    }
  }

  @Test func anUpdateKeepsWhatWasConfirmed() throws {
    try withProposal { library in
      let confirmed = try confirm(library, "Post.user=blocked_user", "--rest")
      #expect(confirmed.status == 0, "\(confirmed.errors)")
      let before = try String(contentsOfFile: library.mapping, encoding: .utf8)
      let updated = library.folder.path("updated.yaml")
      let update = try library.tool([
        "import", "inspect", library.file, "--update", library.mapping, "--mapping", updated,
        "--migrations", library.migrations, "--migration", library.migrations,
      ])
      #expect(update.status == 0, "\(update.errors)")
      #expect(!update.output.contains("new: "), "\(update.output)")
      #expect(before.contains("table: blocked_user"))
      let after = try String(contentsOfFile: updated, encoding: .utf8)
      #expect(after.contains("user: { column: user_id, table: blocked_user"), "\(after)")
      #expect(!after.contains("userId:"))
    }
  }

  @Test func aGuessThatAnUpdateHasAddedIsCorrected() throws {
    try withProposal { library in
      #expect(try confirm(library, "--rest").status == 0)
      #expect(try up(library).status == 0)
      try library.sql(
        "ALTER TABLE post ADD COLUMN created INTEGER; UPDATE post SET created = updated + 60")
      let updated = library.folder.path("updated.yaml")
      let update = try library.tool([
        "import", "inspect", library.file, "--update", library.mapping, "--mapping", updated,
        "--migrations", library.migrations, "--migration", library.migrations,
      ])
      #expect(update.status == 0, "\(update.errors)")
      #expect(update.output.contains("to be confirmed: Post.created: "), "\(update.output)")
      let confirmed = try library.tool([
        "import", "confirm", "--mapping", updated, "--migrations", library.migrations,
        "Post.created=int64",
      ])
      #expect(confirmed.status == 0, "\(confirmed.errors)")
      #expect(try up(library).status == 0)
      let run = try library.tool([
        "import", "run", library.file, "--mapping", updated, "--migrations", library.migrations,
      ])
      #expect(run.status == 0, "\(run.output)\(run.errors)")
      #expect(try values(library).contains("132464188"))
    }
  }

  @Test func aMistakeWritesNothing() throws {
    try withProposal { library in
      let path = library.migrations + "/0001_old_books.yaml"
      let before = try (
        String(contentsOfFile: library.mapping, encoding: .utf8),
        String(contentsOfFile: path, encoding: .utf8)
      )
      expectFailure(try confirm(library, "Post.updtaed"), 78, "did you mean \"Post.updated\"?")
      expectFailure(try confirm(library, "Post.updated=int46"), 78, "did you mean \"int64\"?")
      expectFailure(try confirm(library, "updated"), 64, "write Entity.property")
      expectFailure(
        try library.tool(["import", "confirm", "--mapping", library.mapping, "--rest"]), 64,
        "--migrations DIR")
      // The other end has a property of the name of the inverse.
      let text = before.1.replacing("name: reason", with: "name: posts")
      try library.write(text, to: path)
      try library.write(
        before.0.replacing("reason: reason", with: "posts: reason"), to: library.mapping)
      #expect(try confirm(library, "Post.user=blocked_user").status != 0)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }
  }
}
