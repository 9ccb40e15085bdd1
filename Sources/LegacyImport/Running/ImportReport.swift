public import Foundation

/// What a plan or a run amounts to: every row of the source, and what has become of it. A stable JSON
/// document by `JSONEncoder`.
public struct ImportReport: Codable, Hashable, Sendable {
  /// A table whose rows become records.
  public struct Table: Codable, Hashable, Sendable {
    public let name: String
    /// As SQLite counts them; `nil` where the damage of the file does not let it.
    public internal(set) var rows: Int64?
    public internal(set) var accepted: Int64 = 0
    public internal(set) var rejected: Int64 = 0
    /// Rows that no entity of the mapping takes.
    public internal(set) var skipped: Int64 = 0
    /// Known only as the difference, where the file is damaged.
    public internal(set) var unreadable: Int64 = 0
    /// Which rows cannot be read.
    public internal(set) var unreadableRows: [String] = []
    /// What should not be and is, each on one line.
    public internal(set) var problems: [String] = []

    public var isBalanced: Bool {
      problems.isEmpty && (rows.map { $0 == accepted + rejected + skipped + unreadable } ?? true)
    }
  }

  /// An entity of the mapping, read back from the store.
  public struct Entity: Codable, Hashable, Sendable {
    public let name: String
    public let table: String
    /// What this run has written; of a plan, what it would.
    public internal(set) var written = WriteCounts()
    /// Records that the source says there should be, and those that there are.
    public internal(set) var expected: Int64 = 0
    public internal(set) var found: Int64 = 0
    /// Sums over the mapped values of these records, in no order. Equal if all of them are.
    public internal(set) var expectedDigest = ""
    public internal(set) var foundDigest = ""
    /// Records that somebody has changed or deleted in the store since they were imported.
    public internal(set) var edited: Int64 = 0
    public internal(set) var deleted: Int64 = 0
    public internal(set) var problems: [String] = []

    public var isBalanced: Bool { problems.isEmpty && expected == found + deleted }
  }

  public struct Relationship: Codable, Hashable, Sendable {
    /// `Entity.relationship`.
    public let name: String
    /// Rows that lead, or could lead, somewhere.
    public internal(set) var rows: Int64 = 0
    public internal(set) var linked: Int64 = 0
    /// Rows that lead nowhere.
    public internal(set) var empty: Int64 = 0
    public internal(set) var rejected: Int64 = 0
    /// Links that lead to no row, which the mapping says are to be dropped.
    public internal(set) var dropped: Int64 = 0
    /// Links to another entity, which are another relationship's, and links that are there twice.
    public internal(set) var skipped: Int64 = 0
    public internal(set) var unreadable: Int64 = 0
    /// Links that somebody has changed in the store since.
    public internal(set) var edited: Int64 = 0
    public internal(set) var problems: [String] = []

    public var isBalanced: Bool {
      problems.isEmpty && rows == linked + empty + rejected + dropped + skipped
    }
  }

  /// Values in files beside the source.
  public struct ExternalFiles: Codable, Hashable, Sendable {
    public internal(set) var referenced: Int64 = 0
    public internal(set) var found: Int64 = 0
    public internal(set) var missing: Int64 = 0
    /// Files that no row names.
    public internal(set) var orphaned: Int64 = 0
  }

  public let name: String
  public let path: String
  public let fingerprint: String
  /// Whether nothing was written.
  public let isPlan: Bool
  /// From 1; of a plan the one that would come.
  public let run: Int64
  public let startedAt: Date
  public internal(set) var finishedAt: Date
  /// What was said of the source when it was opened.
  public internal(set) var warnings: [String]
  public internal(set) var tables: [Table] = []
  public internal(set) var entities: [Entity] = []
  public internal(set) var relationships: [Relationship] = []
  public internal(set) var externalFiles: ExternalFiles?
  /// Rejects by code.
  public internal(set) var rejects: [String: Int64] = [:]
  /// Rows that were imported before and are not in the source any more. Their records stay.
  public internal(set) var gone: Int64 = 0
  /// The first of them, as `table key`.
  public internal(set) var goneRows: [String] = []
  /// How many rejects the mapping allows.
  public internal(set) var rejectsAllowed: Int64 = 0

  public var rejected: Int64 { rejects.values.reduce(0, +) }

  /// Whether every row and every link is accounted for, and the store has what the source says.
  public var isBalanced: Bool {
    tables.allSatisfy(\.isBalanced) && entities.allSatisfy(\.isBalanced)
      && relationships.allSatisfy(\.isBalanced)
  }

  /// Whether there are no more rejects than the mapping allows.
  public var isWithinLimit: Bool { rejected <= rejectsAllowed }
}
