import EntityModel
import EntityStore
import Foundation

/// Where migration files come from: the program itself, or a folder.
public struct MigrationSource: Sendable {
  /// A file as it is found; what is wrong with one says nothing of the others.
  struct File: Sendable {
    /// Without its extension.
    let name: String
    let path: String
    let bytes: @Sendable () throws -> [UInt8]

    /// - Throws: `YAMLError` for its contents, `migration` if it cannot be read.
    func migration() throws -> Migration {
      try MigrationFile.read(bytes(), name: name, file: path)
    }
  }

  /// Lists the files, without reading them.
  let files: @Sendable () throws -> [File]
  /// True if they are part of the program.
  let isEmbedded: Bool
  /// The code that `runCode` steps call.
  private(set) var codes: [MigrationCode] = []
  /// Runs `importLegacy` steps.
  private(set) var legacyImporter: LegacyImporter?

  /// Files that are part of the program.
  ///
  /// - Parameter embedded: Names without extension (`0001_home_feed`) and contents.
  public init(embedded: [(name: String, bytes: [UInt8])]) {
    isEmbedded = true
    files = {
      embedded.map { file in File(name: file.name, path: file.name + ".yaml") { file.bytes } }
    }
  }

  private init(files: @escaping @Sendable () throws -> [File]) {
    self.files = files
    isEmbedded = false
  }

  /// All `.yaml` files of a folder. They may belong to several lines.
  public static func directory(_ path: String) -> MigrationSource {
    MigrationSource {
      let names: [String]
      do {
        names = try FileManager.default.contentsOfDirectory(atPath: path)
      } catch {
        throw StoreError(
          .migration, "the folder of migrations cannot be read", [("folder", path)],
          advice: "check --migrations")
      }
      return names.filter { $0.hasSuffix(".yaml") }.sorted().map { name in
        let file = path + "/" + name
        return File(name: String(name.dropLast(5)), path: file) {
          guard let data = FileManager.default.contents(atPath: file) else {
            throw StoreError(
              .migration, "a migration file cannot be read", [("file", file)],
              advice: "check its permissions")
          }
          return Array(data)
        }
      }
    }
  }

  /// Code for the `runCode` steps of migrations, which stand in other sources.
  public static func code(_ codes: [MigrationCode]) -> MigrationSource {
    var source = MigrationSource(embedded: [])
    source.codes = codes
    return source
  }

  /// An importer for the `importLegacy` steps of migrations, which stand in other sources:
  /// `LegacyImporter.files` of the module LegacyImport. Of several the last counts.
  public static func legacyImporter(_ importer: LegacyImporter) -> MigrationSource {
    var source = MigrationSource(embedded: [])
    source.legacyImporter = importer
    return source
  }

  /// The lines of those files that can be read: who applies or checks the files is told of the
  /// others.
  public var lineNames: Set<String> {
    let files = (try? files()) ?? []
    return Set(files.compactMap { try? $0.migration().line })
  }

  /// The store's own entities.
  static let system = MigrationSource(embedded: [
    ("0001_chunked_writes", PackageResources._001_chunked_writes_yaml),
    ("0002_history", PackageResources._002_history_yaml),
    ("0003_migrations", PackageResources._003_migrations_yaml),
  ])
}

/// A linear chain of migrations with its own numbers.
public struct MigrationLine: Sendable {
  public let name: String
  /// Version 1 first, without a gap.
  public let migrations: [Migration]

  /// Reads all sources and sorts their files into lines, in the order in which lines first appear.
  ///
  /// - Throws: `YAMLError` for a file, `migration` for a gap or two files of one number.
  public static func load(_ sources: [MigrationSource]) throws -> [MigrationLine] {
    let migrations = try sources.flatMap { try $0.files() }.map { try $0.migration() }
    var names: [String] = []
    for migration in migrations where !names.contains(migration.line) {
      names.append(migration.line)
    }
    return try names.map { name in
      let chain = migrations.filter { $0.line == name }.sorted { $0.version < $1.version }
      for (index, migration) in chain.enumerated() where migration.version != index + 1 {
        throw gap(in: chain, at: index)
      }
      return MigrationLine(name: name, migrations: chain)
    }
  }

  private static func gap(in chain: [Migration], at index: Int) -> StoreError {
    let found = chain[index]
    if index > 0, chain[index - 1].version == found.version {
      return StoreError(
        .migration, "two migrations of one line have the same number",
        [("line", found.line), ("files", chain[index - 1].name + ", " + found.name)],
        advice: "renumber the later one")
    }
    return StoreError(
      .migration, "a migration is missing",
      [("line", found.line), ("expected", String(index + 1)), ("found", found.name)],
      advice: "numbers begin at 0001 and leave no gap")
  }
}
