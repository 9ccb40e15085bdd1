public import Foundation

/// One attribute value, outside a record.
///
/// The value of an enumeration attribute has the case of its raw type, `int64` or `string`.
public enum Value: Hashable, Sendable {
  case null
  case int64(Int64)
  case double(Double)
  case decimal(Decimal)
  case bool(Bool)
  case string(String)
  case date(Date)
  case uuid(UUID)
  case data(Data)
  case url(URL)
  case strings([String])

  public var isNull: Bool { if case .null = self { true } else { false } }
}

extension Value {
  /// Compares as `compared(with:)` does: texts are equal if their UTF-8 bytes are. Swift's own `==`
  /// treats two spellings of one character as equal, and a change from one to the other would be
  /// lost.
  public static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.int64(let a), .int64(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.decimal(let a), .decimal(let b)): a == b
    case (.bool(let a), .bool(let b)): a == b
    case (.string(let a), .string(let b)): haveSameBytes(a, b)
    case (.date(let a), .date(let b)): a == b
    case (.uuid(let a), .uuid(let b)): a == b
    case (.data(let a), .data(let b)): a == b
    case (.url(let a), .url(let b)): haveSameBytes(a.absoluteString, b.absoluteString)
    case (.strings(let a), .strings(let b)): a.elementsEqual(b, by: haveSameBytes)
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    switch self {
    case .null: break
    case .int64(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .decimal(let value): hasher.combine(value)
    case .bool(let value): hasher.combine(value)
    case .string(let value): hasher.combine(value)
    case .date(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .data(let value): hasher.combine(value)
    case .url(let value): hasher.combine(value.absoluteString)
    case .strings(let value): hasher.combine(value)
    }
  }

  private static func haveSameBytes(_ a: String, _ b: String) -> Bool {
    // The first comparison compares memory if both texts are ASCII, and the second one then does,
    // too.
    a == b && a.utf8.elementsEqual(b.utf8)
  }

  /// The kind of the value; `nil` for null, which fits every optional attribute.
  public var kind: ValueKind? {
    switch self {
    case .null: nil
    case .int64: .int64
    case .double: .double
    case .decimal: .decimal
    case .bool: .bool
    case .string: .string
    case .date: .date
    case .uuid: .uuid
    case .data: .data
    case .url: .url
    case .strings: .strings
    }
  }

  /// True for a NaN, which has no place in any order: it can be neither stored nor searched for.
  public var isNotANumber: Bool {
    switch self {
    case .double(let number): number.isNaN
    case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
    case .decimal(let number): number.isNaN
    default: false
    }
  }

  /// Compares the value with another one of the same kind.
  ///
  /// Null comes first. Strings and URLs compare by UTF-8 bytes, data by bytes, lists element by
  /// element, and false is less than true. This is the order of the index keys.
  ///
  /// - Returns: `nil` if the kinds differ, because no order is defined then.
  public func compared(with other: Value) -> Ordering? {
    switch (self, other) {
    case (.null, .null): .same
    case (.null, _): .ascending
    case (_, .null): .descending
    case (.int64(let a), .int64(let b)): Ordering(a, b)
    case (.double(let a), .double(let b)): Ordering(a, b)
    case (.decimal(let a), .decimal(let b)): Ordering(a, b)
    case (.bool(let a), .bool(let b)): Ordering(a ? 1 : 0, b ? 1 : 0)
    case (.string(let a), .string(let b)): Ordering(bytes: a.utf8, b.utf8)
    case (.date(let a), .date(let b)): Ordering(a, b)
    case (.uuid(let a), .uuid(let b)):
      Swift.withUnsafeBytes(of: a.uuid) { a in
        Swift.withUnsafeBytes(of: b.uuid) { b in Ordering(bytes: a, b) }
      }
    case (.data(let a), .data(let b)): Ordering(bytes: a, b)
    case (.url(let a), .url(let b)): Ordering(bytes: a.absoluteString.utf8, b.absoluteString.utf8)
    case (.strings(let a), .strings(let b)): Ordering(lists: a, b)
    default: nil
    }
  }
}

/// The result of comparing two values.
public enum Ordering: Sendable {
  case ascending, same, descending

  init<T: Comparable>(_ a: T, _ b: T) {
    self = a < b ? .ascending : (a == b ? .same : .descending)
  }

  init<A: Sequence<UInt8>, B: Sequence<UInt8>>(bytes a: A, _ b: B) {
    var left = a.makeIterator()
    var right = b.makeIterator()
    while true {
      switch (left.next(), right.next()) {
      case (nil, nil): self = .same; return
      case (nil, _): self = .ascending; return
      case (_, nil): self = .descending; return
      case (let x?, let y?) where x != y: self = x < y ? .ascending : .descending; return
      default: continue
      }
    }
  }

  init(lists a: [String], _ b: [String]) {
    for (x, y) in zip(a, b) {
      let order = Ordering(bytes: x.utf8, y.utf8)
      if order != .same { self = order; return }
    }
    self.init(a.count, b.count)
  }

  public var reversed: Ordering {
    switch self {
    case .ascending: .descending
    case .same: .same
    case .descending: .ascending
    }
  }
}

/// The kinds in which values are stored.
public enum ValueKind: String, Codable, Hashable, Sendable, CaseIterable {
  case int64, double, decimal, bool, string, date, uuid, data, url, strings
}

extension Value: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  public init(integerLiteral value: Int64) { self = .int64(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(nilLiteral: ()) { self = .null }
}
