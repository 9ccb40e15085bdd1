public import EntityModel
public import Foundation

/// What one write has changed: one closure of `Store.write`, one chunk of a long write, or one save
/// of a draft.
public struct HistoryTransaction: Sendable {
  /// The place right after it.
  public let token: HistoryToken
  /// Who wrote, as the writer said.
  public let author: String?
  public let date: Date
  /// Each record once, in the order in which they were first changed.
  public let changes: [HistoryChange]
  /// Entities of which something else was changed, too, by a write that kept no history.
  public let unrecordedEntities: [String]
}

/// What one write has done to a record: all of it together. A record that was made and deleted by
/// the same write is not mentioned.
public struct HistoryChange: Sendable, Hashable {
  public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
    case insert, update, delete
  }

  public let objectID: ObjectID
  public let kind: Kind
  /// Of an update: the names, as they are today, of the attributes and of the relationships of
  /// links that were changed; in order. Properties that are no more are left out.
  public let changedProperties: [String]
  /// What was there before, by attribute: of an update what attributes marked `keepHistory` had, of
  /// a deletion also all values of at most 1 KiB. Null is left out.
  public let values: [String: Value]
}
