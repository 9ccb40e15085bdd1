public import EntityModel
public import Foundation

/// The changes of one write: one closure of `Store.write`, one chunk of a long write, or one save
/// of a draft.
public struct HistoryTransaction: Sendable {
  /// The position directly after it.
  public let token: HistoryToken
  /// The author, as given by the writer.
  public let author: String?
  public let date: Date
  /// The changes, each record once, in the order in which the records were first changed.
  public let changes: [HistoryChange]
  /// The entities with further changes by a write that did not record them.
  public let unrecordedEntities: [String]
}

/// All changes of one write to a record, combined. A record that was inserted and deleted by the
/// same write is not included.
public struct HistoryChange: Sendable, Hashable {
  /// The kind of a change.
  public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
    case insert, update, delete
  }

  public let objectID: ObjectID
  public let kind: Kind
  /// The current names of the attributes and relationships that an update has changed, in order.
  /// Properties that no longer exist are left out.
  public let changedProperties: [String]
  /// The values before the change, by attribute: for an update those of attributes with
  /// `keepHistory`, for a deletion also all values of at most 1 KiB. Null is left out.
  public let values: [String: Value]
}
