/// One entry of the migration history, stored under `applied:<line>:<number>`.
public struct AppliedMigration: Codable, Hashable, Sendable {
  public var line: String
  /// The number within its line, from 1 on.
  public var version: Int
  public var name: String
  public var checksum: String
  /// Seconds since 1970.
  public var appliedAt: Double
  /// The position among all migrations that were applied to the store, of all lines, from 1 on.
  public var sequence: Int
  /// The access that a program that does not know the migration has; `nil` means `read`.
  public var older: OlderPrograms?
  /// The program that applied it, with its version.
  public var program: String?
  /// The names that it has created: `Episode`, `Episode.note`, `Episode.byDuration`. They identify
  /// the owner if another line creates the same names.
  public var creates: [String]?
  /// True if it was only recorded as applied, because the store already had its changes.
  public var isBaseline: Bool?

  package init(
    line: String,
    version: Int,
    name: String,
    checksum: String,
    appliedAt: Double,
    sequence: Int,
    older: OlderPrograms? = nil,
    program: String? = nil,
    creates: [String]? = nil,
    isBaseline: Bool? = nil
  ) {
    self.line = line
    self.version = version
    self.name = name
    self.checksum = checksum
    self.appliedAt = appliedAt
    self.sequence = sequence
    self.older = older
    self.program = program
    self.creates = creates
    self.isBaseline = isBaseline
  }
}

/// A migration of which some steps are completed, stored under `running`. There is at most one.
///
/// It is not a flag that must be cleared: the next run continues after the completed steps.
public struct RunningMigration: Codable, Hashable, Sendable {
  public var line: String
  public var version: Int
  public var name: String
  /// True while it is being undone.
  public var isDown: Bool
  /// The checksums of the completed steps, each including all steps before it; empty before the
  /// first. These steps must stay unchanged; those that follow may be corrected.
  public var doneChecksums: [String]
  /// The checksum up to the step that is running and has begun to build; `nil` without such a step.
  public var buildChecksum: String?
  /// Seconds since 1970.
  public var startedAt: Double
  /// The access that a program that does not know the migration has once a step is completed; `nil`
  /// means `read`.
  public var older: OlderPrograms?
  /// The program that began it, with its version.
  public var program: String?
  /// The copy of the store that was made before a destructive step.
  public var backup: String?
  /// The reason why the last attempt failed, in one line.
  public var lastError: String?

  package init(
    line: String,
    version: Int,
    name: String,
    isDown: Bool,
    doneChecksums: [String],
    buildChecksum: String? = nil,
    startedAt: Double,
    older: OlderPrograms? = nil,
    program: String? = nil,
    backup: String? = nil,
    lastError: String? = nil
  ) {
    self.line = line
    self.version = version
    self.name = name
    self.isDown = isDown
    self.doneChecksums = doneChecksums
    self.buildChecksum = buildChecksum
    self.startedAt = startedAt
    self.older = older
    self.program = program
    self.backup = backup
    self.lastError = lastError
  }
}

/// The access that a program has to a store with an applied migration that it does not know.
public enum OlderPrograms: String, Codable, Hashable, Sendable, CaseIterable {
  case write, read, refuse
}

/// Decides from a store's migration history how a program may access the store.
///
/// The module Migrations implements it with the migrations that the program knows.
package protocol SchemaPolicy: Sendable {
  /// Checks that the program may read the store. Called when a store is opened.
  ///
  /// - Throws: `newerSchema` if the program must not read the store.
  func checkReadable(_ catalog: Catalog) throws

  /// Checks that the program may write to the store. Called at the begin of each write transaction
  /// whose catalog differs from the previous transaction's.
  ///
  /// - Throws: `newerSchema`, `needsMigration`, `migration`; `busy` while another process is
  ///   migrating the store.
  func checkWritable(_ catalog: Catalog, in folder: String) throws
}
