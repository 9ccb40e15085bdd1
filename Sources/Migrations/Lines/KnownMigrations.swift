import EntityStore
import LMDB
import SystemSupport

/// The migrations that a program knows, with the code that they call. They are read when something
/// first asks for them: a program that only reads a store has no use for them.
///
/// What comes from a folder is read at once, for anything may be wrong with it.
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

  /// - Throws: As `MigrationLine.load`.
  func all() throws -> [MigrationLine] {
    if let known = lines.withLock({ $0 }) { return known }
    // Two threads may come to the same.
    let read = try MigrationLine.load(sources)
    lines.withLock { $0 = read }
    return read
  }

  func checkReadable(_ catalog: Catalog) throws {
    // Only an entry of the history can keep this program out.
    guard catalog.history.contains(where: { $0.older == .refuse }) else { return }
    try MigrationState(lines: all(), of: catalog).checkReadable()
  }

  func checkWritable(_ catalog: Catalog, in folder: String) throws {
    try MigrationState(lines: all(), of: catalog).checkWritable(in: folder)
  }
}

extension Store {
  /// What the store was opened with.
  var migrations: KnownMigrations {
    get throws {
      if let known = schemaPolicy as? KnownMigrations { return known }
      return try KnownMigrations([.system])
    }
  }
}
