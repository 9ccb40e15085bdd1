import EntityModel
import Foundation

/// A value of a feed, of the kind that the document gives it; nothing is converted or guessed.
enum ScalarValue: Equatable, Sendable {
  case null
  case bool(Bool)
  /// A number written without fraction and exponent.
  case int64(Int64)
  case double(Double)
  case string(String)
  /// An array of nothing but strings; the empty array is one.
  case strings([String])
  /// What none of the others holds (integers beyond `Int64`, 1e400, objects, mixed arrays), as the
  /// document writes it.
  case unrepresentable(String)
  /// What a mapping has converted, of the attribute's kind.
  case value(Value)
}

/// A named value of an item.
struct Field: Equatable, Sendable {
  var name: String
  var value: ScalarValue
}

/// One item of a feed page as the document says it, before it is fitted to an entity.
struct FeedItem: Equatable, Sendable {
  /// The entity's name in the feed; nil in formats that know but one kind of item.
  var kind: String?
  var id: String
  /// Grows with every change of the item; nil in formats without revisions.
  var revision: Int64?
  var updatedAt: Date?
  var isDeleted: Bool
  var deletedAt: Date?
  /// In document order, each name once. Empty for a deleted item.
  var fields: [Field]
}

/// What the server knows of the user's own values of one item.
struct UserEntry: Equatable, Sendable {
  var id: String
  var revision: Int64
  /// An explicit null clears the value; a value that is absent is left as it is.
  var values: [Field]
}

/// An item that broke a rule by itself; the rest of its page stands.
struct RejectedItem: Equatable, Sendable {
  var index: Int
  /// The item's id where it could be read.
  var id: String?
  var reason: DocumentError
}
