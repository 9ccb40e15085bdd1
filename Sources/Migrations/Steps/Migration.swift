public import EntityStore

/// One migration file, parsed and checked, but not yet compared with a store.
public struct Migration: Sendable {
  public let line: String
  /// The number that its file name begins with; 1 is the first of a line, and none is missing.
  public let version: Int
  /// The file name without its extension.
  public let name: String
  public let summary: String
  /// The versions of other lines that must be applied first.
  public let requires: [Requirement]
  public let steps: [MigrationStep]
  /// The steps that undo the migration; empty if its author gives none.
  public let down: [MigrationStep]
  /// The access of a program that does not know the migration to a store to which it was applied.
  public let older: OlderPrograms
  /// The checksum of the parsed tree: comments, spacing, quotes, key order and line endings do not
  /// count.
  public let checksum: String
  /// One hash for each step, which covers the step and all steps before it. They distinguish the
  /// steps that are done from those that may still be corrected.
  public let stepChecksums: [String]
  /// The same hashes for the steps that undo the migration.
  public let downChecksums: [String]

  /// A migration of another line that must be applied first.
  public struct Requirement: Hashable, Sendable {
    public let line: String
    public let version: Int

    public init(line: String, version: Int) {
      self.line = line
      self.version = version
    }
  }
}

/// The lines of system entities: `system` is the store's own, and the prefix `system.` marks those
/// of other modules.
extension Migration {
  public var isOfSystem: Bool { line == "system" || line.hasPrefix("system.") }
}
