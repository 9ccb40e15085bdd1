package import EntityModel
package import Foundation

/// A value of a feed, of the kind that the document gives it; nothing is converted or guessed.
package enum ScalarValue: Equatable, Sendable {
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

extension ScalarValue {
  /// The value in the kind of an attribute.
  ///
  /// - Returns: `nil` if the document has another type there: nothing is guessed.
  package func converted(to kind: ValueKind) -> Value? {
    switch (self, kind) {
    case (.null, _): return .null
    case (.value(let value), _): return value.isNull || value.kind == kind ? value : nil
    case (.bool(let flag), .bool): return .bool(flag)
    case (.int64(let number), .int64): return .int64(number)
    // Beyond 2^53 not every integer has a double, and a digit that changes is a wrong value.
    case (.int64(let number), .double): return Double(exactly: number).map(Value.double)
    case (.int64(let number), .decimal): return .decimal(Decimal(number))
    case (.double(let number), .double): return .double(number)
    case (.strings(let list), .strings): return .strings(list)
    case (.string(let text), .string): return .string(text)
    case (.string(let text), .date): return DateText.rfc3339(text).map(Value.date)
    case (.string(let text), .url): return URL(string: text).map(Value.url)
    case (.string(let text), .uuid): return UUID(uuidString: text).map(Value.uuid)
    case (.string(let text), .data): return Data(base64Encoded: text).map(Value.data)
    case (.string(let text), .decimal):
      return Value(text: text, as: .decimal, now: .distantPast)
    default: return nil
    }
  }
}

/// A named value of an item.
package struct Field: Equatable, Sendable {
  package var name: String
  package var value: ScalarValue
}

/// One item of a feed page as the document says it, before it is fitted to an entity.
package struct FeedItem: Equatable, Sendable {
  /// The entity's name in the feed; nil in formats that know but one kind of item.
  package var kind: String?
  package var id: String
  /// Grows with every change of the item; nil in formats without revisions.
  package var revision: Int64?
  package var updatedAt: Date?
  package var isDeleted: Bool
  package var deletedAt: Date?
  /// In document order, each name once. Empty for a deleted item.
  package var fields: [Field]
}

/// What the server knows of the user's own values of one item.
package struct UserEntry: Equatable, Sendable {
  package var id: String
  package var revision: Int64
  /// An explicit null clears the value; a value that is absent is left as it is.
  package var values: [Field]
}

/// An item that broke a rule by itself; the rest of its page stands.
package struct RejectedItem: Equatable, Sendable {
  package var index: Int
  /// The item's id where it could be read.
  package var id: String?
  package var reason: DocumentError
}
