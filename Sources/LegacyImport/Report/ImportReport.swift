public import Foundation

/// The result of a plan or a run: every row of the source is counted by its outcome. `JSONEncoder`
/// writes it as a stable JSON document.
public struct ImportReport: Codable, Hashable, Sendable {
  /// A table whose rows become records.
  public struct Table: Codable, Hashable, Sendable {
    public let name: String
    /// The number of rows; `nil` if only the bounds of the rows that cannot be read are known.
    public internal(set) var rows: Int64?
    public internal(set) var accepted: Int64 = 0
    public internal(set) var rejected: Int64 = 0
    /// The number of rows that no entity of the mapping takes.
    public internal(set) var skipped: Int64 = 0
    /// The number of rows that cannot be read, in a damaged file; if `rows` is `nil`, the greatest
    /// number that there can have been.
    public internal(set) var unreadable: Int64 = 0
    /// Descriptions of the rows that cannot be read, each with its number.
    public internal(set) var unreadableRows: [String] = []
    /// Contradictions, each on one line.
    public internal(set) var problems: [String] = []

    public var isBalanced: Bool {
      problems.isEmpty && (rows.map { $0 == accepted + rejected + skipped + unreadable } ?? true)
    }
  }

  /// An entity of the mapping, read back from the store.
  public struct Entity: Codable, Hashable, Sendable {
    public let name: String
    public let table: String
    /// The records that this run has written or, in a plan, would write.
    public internal(set) var written = WriteCounts()
    /// The number of records that the source implies, and the number that exist.
    public internal(set) var expected: Int64 = 0
    public internal(set) var found: Int64 = 0
    /// Sums over the mapped values of these records, in no order. They are equal if all values are.
    public internal(set) var expectedDigest = ""
    public internal(set) var foundDigest = ""
    /// The number of records that have been changed, or deleted, in the store since they were
    /// imported.
    public internal(set) var edited: Int64 = 0
    public internal(set) var deleted: Int64 = 0
    public internal(set) var problems: [String] = []

    public var isBalanced: Bool { problems.isEmpty && expected == found + deleted }
  }

  /// The links of one relationship, counted by their outcome.
  public struct Relationship: Codable, Hashable, Sendable {
    /// `Entity.relationship`.
    public let name: String
    /// The number of rows that lead, or could lead, somewhere.
    public internal(set) var rows: Int64 = 0
    public internal(set) var linked: Int64 = 0
    /// The number of rows that lead nowhere.
    public internal(set) var empty: Int64 = 0
    public internal(set) var rejected: Int64 = 0
    /// The number of links that lead to no row and that the mapping drops.
    public internal(set) var dropped: Int64 = 0
    /// The number of links to another entity, which belong to another relationship, and of repeated
    /// links.
    public internal(set) var skipped: Int64 = 0
    public internal(set) var unreadable: Int64 = 0
    /// The number of links that have been changed in the store since they were imported.
    public internal(set) var edited: Int64 = 0
    public internal(set) var problems: [String] = []

    public var isBalanced: Bool {
      problems.isEmpty && rows == linked + empty + rejected + dropped + skipped
    }
  }

  /// Rows of a damaged file that are not imported: they cannot be read, or they fit no table.
  public struct MissingRows: Codable, Hashable, Sendable {
    /// The table; `sqlite_schema` if tables may be missing.
    public let table: String
    /// The bounds of the number of rows, which are equal if the number is known.
    public let atLeast: Int64
    public let atMost: Int64
    /// Descriptions of the rows, each with its number.
    public let ranges: [String]

    /// The number in words.
    public var count: String { atLeast == atMost ? String(atMost) : "up to \(atMost)" }
  }

  /// The files with values beside the source.
  public struct ExternalFiles: Codable, Hashable, Sendable {
    public internal(set) var referenced: Int64 = 0
    public internal(set) var found: Int64 = 0
    public internal(set) var missing: Int64 = 0
    /// The number of files that no row names.
    public internal(set) var orphaned: Int64 = 0
  }

  /// The result of deleting the records of rows that are no longer in the file.
  public struct Pruning: Codable, Hashable, Sendable {
    /// The number of records that the import knew before.
    public internal(set) var known: Int64 = 0
    /// The number of rows whose records are gone now.
    public internal(set) var deleted: Int64 = 0
    /// The number of records that were not deleted because they are most of the records.
    public internal(set) var refused: Int64 = 0
    /// The number of records that a delete rule of the store protects.
    public internal(set) var denied: Int64 = 0
    /// The number of records that stay because they may have been there before the import: the
    /// mapping matches rows with existing records.
    public internal(set) var matched: Int64 = 0
  }

  public let name: String
  public let path: String
  public let fingerprint: String
  /// True for a plan, which writes nothing.
  public let isPlan: Bool
  /// The number of the run, from 1; in a plan, the number of the next run.
  public let run: Int64
  public let startedAt: Date
  public internal(set) var finishedAt: Date
  /// The warnings about the source.
  public internal(set) var warnings: [String]
  public internal(set) var tables: [Table] = []
  public internal(set) var entities: [Entity] = []
  public internal(set) var relationships: [Relationship] = []
  public internal(set) var externalFiles: ExternalFiles?
  /// Rejects by code.
  public internal(set) var rejects: [String: Int64] = [:]
  /// The number of rows that were imported before and are no longer in the source. Their records
  /// stay.
  public internal(set) var gone: Int64 = 0
  /// The first of them, as `table key`.
  public internal(set) var goneRows: [String] = []
  /// The records that the run has deleted, if it was to prune.
  public internal(set) var pruning: Pruning?
  /// The rows that are missing because the file is damaged; `nil` in the report of an earlier
  /// version of the program.
  public internal(set) var missing: [MissingRows]?
  /// The number of missing rows that the caller allows.
  public internal(set) var missingAllowed: Int64?
  /// The value of ``isBalanced`` for readers of the JSON document.
  public internal(set) var balanced: Bool?
  /// The number of rejects that the mapping allows.
  public internal(set) var rejectsAllowed: Int64 = 0

  public var rejected: Int64 { rejects.values.reduce(0, +) }

  /// The greatest number of rows that can be missing because the file is damaged.
  public var missingAtMost: Int64 {
    (missing ?? []).reduce(0) {
      let (sum, overflows) = $0.addingReportingOverflow($1.atMost)
      return overflows ? .max : sum
    }
  }

  /// True if every row and every link is accounted for, the store has what the source says, and no
  /// more rows can be missing than the caller allows.
  public var isBalanced: Bool {
    missingAtMost <= missingAllowed ?? 0
      && tables.allSatisfy(\.isBalanced) && entities.allSatisfy(\.isBalanced)
      && relationships.allSatisfy(\.isBalanced)
  }

  /// True if there are no more rejects than the mapping allows.
  public var isWithinLimit: Bool { rejected <= rejectsAllowed }
}

/// The records that a run has written for one entity of a mapping.
public struct WriteCounts: Codable, Hashable, Sendable {
  public internal(set) var new: Int64 = 0
  public internal(set) var changed: Int64 = 0
  public internal(set) var unchanged: Int64 = 0
  /// The number of changed rows whose records have been deleted. They are not created again.
  public internal(set) var deleted: Int64 = 0
}

/// A row or a link that a run does not import.
public struct ImportReject: Codable, Hashable, Sendable {
  /// The number of the record that the store has of it; `nil` in a plan.
  public let number: Int64?
  public let table: String
  /// The value of the key as JSON, or a list of its values.
  public let key: String
  public let entity: String
  /// The attribute or the relationship that is at fault.
  public let property: String?
  /// The reason; programs may branch on it. The codes are stable.
  public let code: String
  /// The reason on one line, for people.
  public let message: String
  /// The columns that were read, as JSON; long values are cut.
  public let row: String
}

/// The progress of a run or a plan.
public struct ImportProgress: Hashable, Sendable {
  /// The stages of a plan and a run.
  public enum Stage: String, Hashable, Sendable {
    /// The file is being copied.
    case copying
    /// Rows are being written as records.
    case objects
    /// Records are being linked.
    case links
    /// Keys are being read, to find the records whose rows have vanished.
    case pruning
    /// The written records and links are being read back.
    case verification
  }

  public let stage: Stage
  /// The table or the relationship.
  public let name: String
  public let done: Int64
  /// The number of rows; 0 if it is not known.
  public let total: Int64
}
