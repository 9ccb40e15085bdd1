/// One entry of the migration history, stored under `applied:<line>:<number>`.
public struct AppliedMigration: Codable, Hashable, Sendable {
  public var line: String
  /// 1 is the first of its line.
  public var version: Int
  public var name: String
  public var checksum: String
  /// Seconds since 1970.
  public var appliedAt: Double
  /// The place among all that was applied to the store, of whatever line; 1 is the first.
  public var sequence: Int
  /// What a program that does not know it may do; `nil` is as `read`.
  public var older: OlderPrograms?
  /// The program that applied it, with its version.
  public var program: String?
  /// What it has made, so that another line that makes the same can be told whose it is:
  /// `Episode`, `Episode.note`, `Episode.byDuration`.
  public var creates: [String]?
  /// Whether it was only noted as applied, because the store had it already.
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

/// A migration of which some steps are done, stored under `running`. There is at most one.
///
/// It is no flag that somebody must clear: whoever comes next goes on after the steps that are
/// done.
public struct RunningMigration: Codable, Hashable, Sendable {
  public var line: String
  public var version: Int
  public var name: String
  /// Whether it is being taken back.
  public var isDown: Bool
  /// The checksum of the steps that are done, the last of them being that of all; empty before the
  /// first. They must stay as they are, those that follow may be corrected.
  public var doneChecksums: [String]
  /// The checksum up to the step that is under way and has begun to build something; `nil` if none
  /// has.
  public var buildChecksum: String?
  /// Seconds since 1970.
  public var startedAt: Double
  /// What a program that does not know it may do once a step is done; `nil` is as `read`.
  public var older: OlderPrograms?
  /// The program that began it, with its version.
  public var program: String?
  /// The copy of the store that was made before a destructive step.
  public var backup: String?
  /// Why the last attempt ended, in one line.
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

/// What a program may do with a store that has had a migration of which it does not know.
public enum OlderPrograms: String, Codable, Hashable, Sendable, CaseIterable {
  case write, read, refuse
}

/// Decides by a store's migration history what a program may do with the store.
///
/// The module Migrations implements it with the migrations that the program knows.
package protocol SchemaPolicy: Sendable {
  /// Called when a store is opened.
  ///
  /// - Throws: `newerSchema` if the program must not read the store.
  func checkReadable(_ catalog: Catalog) throws

  /// Called at the begin of each write transaction whose catalog is not that of the one before.
  ///
  /// - Throws: `newerSchema`, `needsMigration`, `migration`; `storage` with the code `busy` while
  ///   another process is migrating the store.
  func checkWritable(_ catalog: Catalog, in folder: String) throws
}
