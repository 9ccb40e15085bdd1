import EntityModel
import EntityStore
import Foundation
import StrictYAML
import SystemSupport

/// A source of migration files: the program itself, or a folder.
public struct MigrationSource: Sendable {
  /// A file that was found. An error in one file does not affect the others.
  struct File: Sendable {
    /// The file name without its extension.
    let name: String
    let path: String
    let bytes: @Sendable () throws -> [UInt8]

    /// Parses the file.
    ///
    /// - Throws: `YAMLError` for its contents, `migration` if it cannot be read.
    func migration() throws -> Migration {
      try MigrationFile.read(bytes(), name: name, file: path)
    }
  }

  /// Lists the files, without reading them.
  let files: @Sendable () throws -> [File]
  /// True if the files are part of the program.
  let isEmbedded: Bool
  /// The code that `runCode` steps call.
  private(set) var codes: [MigrationCode] = []
  /// The importer that runs `importLegacy` steps.
  private(set) var legacyImporter: LegacyImporter?

  /// Returns a source of files that are part of the program.
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

  /// Returns a source of all `.yaml` files of a folder. They may belong to several lines.
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
          do throws(SystemError) {
            return try BoundedFile.read(file, bytesMax: YAMLDocument.bytesMax)
          } catch {
            throw StoreError(
              .migration, "a migration file cannot be read",
              [("file", file), ("cause", error.text)], advice: "check its permissions")
          }
        }
      }
    }
  }

  /// Returns a source with the code for `runCode` steps of migrations from other sources.
  public static func code(_ codes: [MigrationCode]) -> MigrationSource {
    var source = MigrationSource(embedded: [])
    source.codes = codes
    return source
  }

  /// Returns a source with an importer for the `importLegacy` steps of migrations from other
  /// sources: `LegacyImporter.files` of the module LegacyImport. If there are several, the last one
  /// is used.
  public static func legacyImporter(_ importer: LegacyImporter) -> MigrationSource {
    var source = MigrationSource(embedded: [])
    source.legacyImporter = importer
    return source
  }

  /// The lines of the files that can be read. The errors of the other files are reported when the
  /// files are applied or checked.
  public var lineNames: Set<String> {
    let files = (try? files()) ?? []
    return Set(files.compactMap { try? $0.migration().line })
  }

  /// The migrations of the store's own entities.
  static let system = MigrationSource(embedded: [
    ("0001_chunked_writes", PackageResources._001_chunked_writes_yaml),
    ("0002_history", PackageResources._002_history_yaml),
    ("0003_migrations", PackageResources._003_migrations_yaml),
  ])
}

/// A linear chain of migrations with its own numbers.
public struct MigrationLine: Sendable {
  public let name: String
  /// The migrations in ascending order, from version 1 and without a gap.
  public let migrations: [Migration]

  /// Reads all sources and sorts their files into lines, in the order in which the lines first
  /// appear.
  ///
  /// - Throws: `YAMLError` for a file, `migration` for a gap or two files with the same number.
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
