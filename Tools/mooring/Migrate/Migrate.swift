import ArgumentParser
import Console
import EntityModel
import EntityStore
import Migrations
import TextFormats

struct Migrate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Shows, checks and applies the migrations of the store.",
    discussion: """
      Migrations are files with numbers, in lines: the line `homefeed` comes with the program, and \
      a line of yours is a folder that --migrations names. In each line they are applied in the \
      order of their numbers.

      `status` shows the state of the store, `plan` the steps to be run, and `up` runs them. A run \
      that ends early, by Ctrl-C, a kill or a full disk, leaves a readable store. The next `up` \
      resumes there; no cleanup is needed.
      """,
    subcommands: [
      Status.self, Plan.self, Up.self, Down.self, Verify.self, Lint.self, New.self, Contract.self,
      Baseline.self, Abandon.self,
    ])
}

/// A line and one of its versions, as the command line has them: `local@2`.
struct LineVersion: ExpressibleByArgument {
  let line: String
  let version: Int

  init?(argument: String) {
    let parts = argument.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, let version = Int(parts[1]), version >= 0 else {
      return nil
    }
    (line, self.version) = (String(parts[0]), version)
  }
}

extension StoreOptions {
  /// The lines of migrations that this command knows, without those of the store itself.
  ///
  /// - Throws: `YAMLError`, `StoreError` for a folder or a file that is wrong.
  func migrationLines() throws -> [MigrationLine] { try MigrationLine.load(allSources) }

  /// The lines besides those of a folder, which may be among those that this command knows.
  func linesBeside(_ own: [MigrationLine]) throws -> [MigrationLine] {
    try migrationLines().filter { line in !own.contains { $0.name == line.name } }
  }

  /// Returns the schema after all migrations, including those of a folder.
  func schema(withMigrationsIn folder: String?) throws -> Schema {
    let own = try folder.map { try MigrationLine.load([.directory($0)]) } ?? []
    return try Schema(of: linesBeside(own) + own)
  }

  /// Folders as sources, and the built-in ones of other lines.
  func sources(withFolders folders: [String]) -> [MigrationSource] {
    let own = folders.map(MigrationSource.directory)
    let names = own.reduce(into: Set()) { $0.formUnion($1.lineNames) }
    return builtInSources.filter { $0.lineNames.isDisjoint(with: names) } + own
  }
}

extension MigrationLine {
  var isOfSystem: Bool { migrations.contains(where: \.isOfSystem) }
}

extension CommandError {
  /// - Parameter known: The names of those that there are.
  static func unknownLine(_ name: String, known: [String]) -> CommandError {
    let list = "known are " + known.joined(separator: ", ")
    let advice = NearestName.advice(on: name, among: known, otherwise: list)
    return CommandError(.usage, "there is no line \"\(name)\" here; \(advice)")
  }
}
