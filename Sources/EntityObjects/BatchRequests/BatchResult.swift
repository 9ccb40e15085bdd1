public import EntityModel

/// What a batch request returns of the records it has changed.
public enum BatchResultType: Sendable {
  /// Only whether everything went through.
  case status
  /// The identities of the records, which takes memory for each.
  case identifiers
  case count
}

/// What a batch request may do without.
///
/// Uniqueness and links cannot be switched off: an index holds one entry for a key, and a reference
/// leads to a record. Neither can that a value is there where one is required, and is of its kind.
public enum BatchOption: String, Codable, Hashable, Sendable, CaseIterable {
  /// The rules of attributes: range, length, pattern.
  case validation
  /// The rules of relationships, when records are deleted: every link is only cut, as `nullify`
  /// does, nothing is denied and nothing goes along. A link that the other record must have still
  /// refuses.
  case deleteRules
  /// The history of what was changed. It then says only that something of the entity was: live
  /// results are fetched anew.
  case history
}

/// How far a batch has come, after a commit.
public struct BatchProgress: Hashable, Sendable {
  /// Records looked at, or items taken, by this run and by interrupted ones before it.
  public let done: Int64
  /// `nil` for items of which nobody knows how many there are.
  public let total: Int64?
}

/// What a batch request has done.
public struct BatchResult: Sendable {
  /// As the request's result type asks for it.
  public enum Outcome: Hashable, Sendable {
    /// `false` if an item was refused (`BatchInsertRequest.ItemErrors.collect`).
    case status(Bool)
    /// In the order in which they were changed. Only those of this run: what an interrupted run had
    /// committed before is counted, but not listed.
    case identifiers([ObjectID])
    case count(Int)
  }

  public let outcome: Outcome
  /// Whether it went on from where an interrupted run of the same request had stopped.
  public let isResumed: Bool
  /// Records made, changed and removed, with those of interrupted runs before. An update counts
  /// each record that matches; a deletion those that were to be deleted, not what went along by a
  /// rule.
  public let counts: Counts
  /// The first of the items that were refused.
  public let errors: [BatchItemError]

  public struct Counts: Hashable, Codable, Sendable {
    public internal(set) var inserted: Int64 = 0
    public internal(set) var updated: Int64 = 0
    public internal(set) var deleted: Int64 = 0
    /// Items left out because there is a record with their unique values (`onConflict: .skip`).
    public internal(set) var skipped: Int64 = 0
    /// Items that were refused.
    public internal(set) var refused: Int64 = 0

    init(
      inserted: Int64 = 0, updated: Int64 = 0, deleted: Int64 = 0, skipped: Int64 = 0,
      refused: Int64 = 0
    ) {
      self.inserted = inserted
      self.updated = updated
      self.deleted = deleted
      self.skipped = skipped
      self.refused = refused
    }

    /// Records changed in any way.
    public var changed: Int64 { inserted + updated + deleted }
  }

  init(
    _ type: BatchResultType, _ counts: Counts, _ identifiers: [ObjectID], isResumed: Bool,
    errors: [BatchItemError] = []
  ) {
    outcome =
      switch type {
      case .status: .status(counts.refused == 0)
      case .identifiers: .identifiers(identifiers)
      case .count: .count(Int(counts.changed))
      }
    self.counts = counts
    self.isResumed = isResumed
    self.errors = errors
  }
}

/// An item that a batch insert has refused.
public struct BatchItemError: Error, CustomStringConvertible {
  /// Its number in the source, from 1.
  public let item: Int64
  /// Where it came from, such as a line of a file, if the source says so.
  public let place: String?
  /// A `StoreError`, or what reading the item has thrown.
  public let error: any Error

  public var description: String { "\(place ?? "item \(item)"): \(error)" }
}
