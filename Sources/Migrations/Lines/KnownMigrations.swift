import EntityStore
import SystemSupport

/// The migrations that a program knows, with the code that they call. Embedded files are parsed on
/// first use, because a program that only reads a store does not need them.
///
/// Files of a folder are parsed at once, because any of them may be invalid.
final class KnownMigrations: SchemaPolicy {
  let codes: [MigrationCode]
  let legacyImporter: LegacyImporter?
  private let sources: [MigrationSource]
  private let lines = Locked<[MigrationLine]?>(nil)

  init(_ sources: [MigrationSource]) throws {
    self.sources = sources
    codes = sources.flatMap(\.codes)
    legacyImporter = sources.compactMap(\.legacyImporter).last
    if !sources.allSatisfy(\.isEmbedded) { _ = try all() }
  }

  /// Returns the lines, parsed on the first call.
  ///
  /// - Throws: The errors of `MigrationLine.load`.
  func all() throws -> [MigrationLine] {
    if let known = lines.withLock({ $0 }) { return known }
    // Two threads may both parse the files; they get the same result.
    let read = try MigrationLine.load(sources)
    lines.withLock { $0 = read }
    return read
  }

  func checkReadable(_ catalog: Catalog) throws {
    // Only an entry of the migration history can exclude this program.
    guard catalog.history.contains(where: { $0.older == .refuse }) else { return }
    try MigrationState(lines: all(), of: catalog).checkReadable()
  }

  func checkWritable(_ catalog: Catalog, in folder: String) throws {
    try MigrationState(lines: all(), of: catalog).checkWritable(in: folder)
  }
}

extension Store {
  /// The migrations that the store was opened with.
  var migrations: KnownMigrations {
    get throws {
      if let known = schemaPolicy as? KnownMigrations { return known }
      return try KnownMigrations([.system])
    }
  }
}
