import ArgumentParser
import Console
import DurableJobs
import EntityStore
import Foundation
import Migrations
import StoreJobs
import TextFormats

extension Migrate {
  struct Up: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "up",
      abstract: "Applies pending migrations; creates the store if it is missing.",
      discussion: """
        mooring migrate up
        mooring migrate up --migrations migrations --allow-destructive

        Other processes can read at any time, and write between two chunks of a long step. Ctrl-C \
        ends it after a chunk, with status 130; the next `up` resumes there, also after a kill.

        At the end the records of a store of an earlier version get seals, by which `mooring \
        check` finds damage; programs of such a version can only read it then.

        Before a step that loses data the store is copied beside itself. With --format json \
        standard error has a line {"event":"progress",…} for each stage of a long step, or more \
        often, and standard output one object at the end.
        """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var run: MigrationRunOptions
    @Option(
      help: ArgumentHelp(
        "How far a line goes, such as local@2; may be repeated. Other lines go to their end.",
        valueName: "line@n"))
    var to: [LineVersion] = []
    @OptionGroup var legacy: LegacyFileOptions
    @OptionGroup var job: DetachOptions

    func validate() throws {
      try job.refuse([
        "--to": !to.isEmpty, "--allow-destructive": run.allowDestructive,
        "--legacy": !legacy.legacy.isEmpty,
      ])
    }

    func run() async throws {
      if job.detach { return try await detach() }
      let output = MigrationOutput(.up, options, run.format)
      var migration = run.migrationOptions()
      migration.targets = try MigrationTargets.read(to, try options.migrationLines())
      let open = try opening()
      let command = (["mooring", "migrate", "up"] + legacy.words).map(\.shellWord)
      let outcome = try await output.progress.migrate(
        migration, continuedBy: command.joined(separator: " ")
      ) { migration in
        let store = try open()
        try MigrationTargets.check(migration.targets, reached: try store.migrationHistory())
        try store.migrationState().pending.requireSteps()
        return try MigrationOutcome.of(store, output) { try store.migrate(migration) }
      }
      try output.write(outcome)
    }

    /// The files of the folders as a job, which the worker refuses if they do more than indexes.
    private func detach() async throws {
      let files = try options.migrationFolders.flatMap(MigrationFiles.read)
      guard !files.isEmpty else {
        throw CommandError(
          .usage,
          "--detach is for migrations that create indexes; name their folder: --migrations DIR")
      }
      // With the lines of the folders, the store would count as out of date and accept no job.
      let store = try Store.open(
        at: options.folder, migrations: options.builtInSources,
        options: try options.storeOptions())
      try await job.enqueue(BuildIndexes(files), in: store, options, run.format)
    }

    private func opening() throws -> @Sendable () throws -> Store {
      let folder = options.folder
      let importer = try legacy.importer(for: try options.migrationLines())
      let sources = options.allSources + [.legacyImporter(importer)]
      let opening = try options.storeOptions()
      return {
        try Store.open(at: folder, migrations: sources, migrate: .create, options: opening)
      }
    }
  }
}

extension [Migration] {
  /// Refuses a draft of `migrate new` without steps: it must not become part of a store's history,
  /// because it could not be changed after that.
  ///
  /// - Throws: `CommandError`
  func requireSteps() throws {
    guard let draft = first(where: { $0.steps.isEmpty }) else { return }
    throw CommandError(
      .configuration,
      "\(draft.line) \(draft.name) has no steps yet; fill it in, or move the file away")
  }
}

/// How far lines go.
enum MigrationTargets {
  /// - Throws: `CommandError` for a line or a version that is not there.
  static func read(_ targets: [LineVersion], _ lines: [MigrationLine]) throws -> [String: Int] {
    var versions: [String: Int] = [:]
    for target in targets {
      guard let line = lines.first(where: { $0.name == target.line }) else {
        throw CommandError.unknownLine(target.line, known: lines.map(\.name))
      }
      guard target.version <= line.migrations.count else {
        throw CommandError(.usage, "the line \(line.name) ends at \(line.migrations.count)")
      }
      guard versions.updateValue(target.version, forKey: target.line) == nil else {
        throw CommandError(.usage, "--to names the line \(target.line) twice")
      }
    }
    return versions
  }

  /// - Throws: `CommandError` if a line has gone further already.
  static func check(_ targets: [String: Int], reached history: [AppliedMigration]) throws {
    for (line, version) in targets.sorted(by: { $0.key < $1.key }) {
      let reached = history.count { $0.line == line }
      if reached > version {
        throw CommandError(
          .usage,
          "the line \(line) is at \(reached) already; to take it back, type "
            + "`mooring migrate down \(line) --to \(version)`")
      }
    }
  }
}

/// The migration files of a folder, as a job takes them along.
private enum MigrationFiles {
  /// The largest payload of a job.
  private static let bytesMax = 1 << 20

  /// - Throws: `CommandError` for a file that cannot be read, is too long, or is no text.
  static func read(_ folder: String) throws -> [BuildIndexes.File] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    return try names.filter { $0.hasSuffix(".yaml") }.sorted().map { name in
      let text = try ConfigurationFile("migration", bytesMax: bytesMax)
        .text(of: folder + "/" + name, advice: "check --migrations")
      return BuildIndexes.File(name: String(name.dropLast(5)), text: text)
    }
  }
}
