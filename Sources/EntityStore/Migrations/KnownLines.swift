import SystemSupport

/// The migration lines that a program knows, read when something first asks for them: whoever only
/// reads a store has no use for them.
///
/// What comes from a folder is read at once, for anything may be wrong with it.
final class KnownLines: Sendable {
  private let sources: [MigrationSource]
  private let lines = Locked<[MigrationLine]?>(nil)

  init(_ sources: [MigrationSource]) throws {
    self.sources = sources
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
}
