public import EntityStore

/// One migration file, read and checked but not yet fitted to a store.
public struct Migration: Sendable {
  public let line: String
  /// The number that its file name begins with; 1 is the first of a line, and none is missing.
  public let version: Int
  /// The file name without its extension.
  public let name: String
  public let summary: String
  /// Versions of other lines that come first.
  public let requires: [Requirement]
  public let steps: [MigrationStep]
  /// What takes it back; empty if its author gives nothing.
  public let down: [MigrationStep]
  /// What a program that does not know it may do with a store that has had it.
  public let older: OlderPrograms
  /// Over the parsed tree: comments, spacing, quotes, key order and line endings do not count.
  public let checksum: String
  /// For each step a hash of it and of all before it: what has been done is told from what may
  /// still be corrected.
  public let stepChecksums: [String]
  /// Likewise of the steps that take it back.
  public let downChecksums: [String]

  public struct Requirement: Hashable, Sendable {
    public let line: String
    public let version: Int

    public init(line: String, version: Int) {
      self.line = line
      self.version = version
    }
  }
}

/// The name of a store's own line and the prefix of the lines of other modules' system entities.
extension Migration {
  public var isOfSystem: Bool { line == "system" || line.hasPrefix("system.") }
}
