public import EntityModel

/// The form in which a batch request reports the records it has changed.
public enum BatchResultType: Sendable {
  /// Only a flag: true if no item was refused.
  case status
  /// The identities of the records. They take memory for each record.
  case identifiers
  case count
}

/// The checks and effects that a batch request can switch off.
///
/// Uniqueness and links cannot be switched off: an index holds one entry for a key, and a reference
/// leads to a record. Required attributes always need a value, and values must have the attribute's
/// type.
public enum BatchOption: String, Codable, Hashable, Sendable, CaseIterable {
  /// The rules of attributes: range, length, pattern.
  case validation
  /// The delete rules of relationships: every link is only removed, as by `nullify`; nothing is
  /// denied and no further record is deleted. A link that is required in the other record still
  /// refuses the deletion.
  case deleteRules
  /// The change history of single records. It then holds only that some records of the entity have
  /// changed, so that live results fetch all rows again.
  case history
}

/// The progress of a batch after a commit.
public struct BatchProgress: Hashable, Sendable {
  /// The records scanned, or the items inserted, by this run and by interrupted ones before it.
  public let done: Int64
  /// The number of records; `nil` for items of a source, whose number is unknown.
  public let total: Int64?
}

/// The outcome of a batch request.
public struct BatchResult: Sendable {
  /// The reported records, in the form that the request's result type selects.
  public enum Outcome: Hashable, Sendable {
    /// The flag of a run; `false` if an item was refused (`BatchInsertRequest.ItemErrors.collect`).
    case status(Bool)
    /// The identities in the order of the changes. Only those of this run: changes that an
    /// interrupted run had committed are counted, but not listed.
    case identifiers([ObjectID])
    case count(Int)
  }

  public let outcome: Outcome
  /// True if this run continued from a checkpoint of an interrupted run of the same request.
  public let isResumed: Bool
  /// The records inserted, changed and deleted, including those of interrupted runs before. An
  /// update counts each record that matches; a deletion counts the records that match, not those
  /// that a delete rule deleted with them.
  public let counts: Counts
  /// The first of the refused items.
  public let errors: [BatchItemError]

  /// The numbers of records by outcome.
  public struct Counts: Hashable, Codable, Sendable {
    public internal(set) var inserted: Int64 = 0
    public internal(set) var updated: Int64 = 0
    public internal(set) var deleted: Int64 = 0
    /// The items skipped because a record with their unique values exists (`onConflict: .skip`).
    public internal(set) var skipped: Int64 = 0
    /// The items that were refused.
    public internal(set) var refused: Int64 = 0

    /// The records inserted, updated or deleted.
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
  /// The number of the item in the source, counted from 1.
  public let item: Int64
  /// The origin of the item, such as a line of a file, if the source gives it.
  public let place: String?
  /// A `StoreError`, or the error of reading the item.
  public let error: any Error

  public var description: String { "\(place ?? "item \(item)"): \(error)" }
}
