package import EntityModel
package import Foundation

/// A value of a feed with the type that it has in the document; nothing is converted.
package enum ScalarValue: Equatable, Sendable {
  case null
  case bool(Bool)
  /// A number written without fraction and exponent.
  case int64(Int64)
  case double(Double)
  case string(String)
  /// An array that holds only strings; the empty array is one.
  case strings([String])
  /// Any other value (integers beyond `Int64`, 1e400, objects, mixed arrays), as written in the
  /// document.
  case unrepresentable(String)
  /// A value that a mapping has converted to the attribute's type.
  case value(Value)
}

extension ScalarValue {
  /// Returns the value as one of that kind; nil if the document has another type there.
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

extension ScalarValue {
  /// The value with the type that it has here; nil if no type can represent it.
  package var unconverted: Value? {
    switch self {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .int64(let number): .int64(number)
    case .double(let number): .double(number)
    case .string(let text): .string(text)
    case .strings(let list): .strings(list)
    case .value(let value): value
    case .unrepresentable: nil
    }
  }
}

/// One item of a page, before it becomes a row of an entity.
package struct FeedItem: Equatable, Sendable {
  /// The entity's name in the feed; nil in formats with a single kind of item.
  package var kind: String?
  package var id: String
  /// A number that grows with every change of the item; nil in formats without revisions.
  package var revision: Int64?
  package var updatedAt: Date?
  package var isDeleted = false
  package var deletedAt: Date?
  /// The values in document order, each name once. Empty for a deleted item.
  package var fields = FieldList()
}

/// The user's own values of one item, as the server has them.
package struct UserEntry: Equatable, Sendable {
  package var id: String
  package var revision: Int64
  /// The values. An explicit null clears a value; an absent one stays as it is.
  package var values: FieldList
}

/// An item that was rejected; the rest of its page is used.
package struct RejectedItem: Equatable, Sendable {
  package var index: Int
  /// The item's id, if it could be read.
  package var id: String?
  package var reason: DocumentError
}
