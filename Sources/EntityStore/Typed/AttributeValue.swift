public import EntityModel
public import Foundation

/// A Swift type that an attribute of a typed entity may have.
///
/// The generic code is `@inlinable`, so that a type of another module reads its attributes without
/// looking up generic metadata; the reading itself stays in this module.
///
/// The standard types conform already; an enumeration with the raw type `Int64`, `Int` or `String`
/// conforms by declaring it. It throws for a raw value without a case; to keep unknown raw values,
/// use a struct that is `RawRepresentable`, or `Stored`. A type that a `#Predicate` captures must
/// also be `Codable`.
public protocol AttributeValue: PredicateArgument, Sendable {
  static var kind: ValueKind { get }
  /// True if null is a value of the type.
  static var isOptional: Bool { get }
  var value: Value { get }
  /// Reads the value of a field.
  ///
  /// - Throws: `schemaMismatch` for null in a type that is not optional, and for a raw value
  ///   without a case; `damaged`.
  init(reading field: StoredField) throws
}

/// One attribute of a stored record, still in the memory map.
public struct StoredField {
  let field: RecordField
  /// Unretained: it holds the reader that creates the field, and a field is used at once.
  let decoder: Unmanaged<EntityDecoder>

  public var isNull: Bool { field.isNull }

  /// Reads a value that must not be null and must be of the given kind.
  @inline(__always)
  fileprivate func read<T>(
    _ kind: ValueKind, _ body: (RecordField) throws -> T
  ) throws -> T {
    guard field.kind == kind, !field.isNull else { throw misfit }
    do {
      return try body(field)
    } catch is RecordDamage {
      throw StoreError.damaged("an attribute is unreadable", entity: entity)
    }
  }

  @inlinable
  func withText<R>(_ body: (UTF8Span) throws -> R) throws -> R? {
    if isNull { return nil }
    let text = try text()
    // SAFETY: the text was checked, and is in the map for as long as the reader is valid; a span
    // cannot leave the closure.
    return try body(
      UTF8Span(unchecked: Span(_unsafeBytes: text.bytes), isKnownASCII: text.isASCII))
  }

  @usableFromInline
  func text() throws -> CheckedText { try read(.string) { try $0.text() } }

  private var misfit: StoreError {
    field.isNull
      ? mismatch("a required attribute is null in the store")
      : mismatch("an attribute has another type in the store")
  }

  /// Returns the error for a raw value without a case.
  @usableFromInline
  func unknown(_ rawValue: Value) -> StoreError {
    mismatch(
      "an enumeration has no case for a stored value", [("raw value", rawValue.text)])
  }

  private func mismatch(_ summary: StaticString, _ more: [(String, String)] = []) -> StoreError {
    // SAFETY: see `decoder`.
    let attribute = decoder._withUnsafeGuaranteedRef { $0.name(of: field) }
    return StoreError(
      .schemaMismatch, summary, [("entity", entity), ("attribute", attribute)] + more,
      advice: "make the property optional, or repair the record")
  }

  private var entity: String { decoder._withUnsafeGuaranteedRef { $0.entity.name } }
}

extension AttributeValue {
  public static var isOptional: Bool { false }

  /// Returns the value as a constant, so that it can be an argument of a format string.
  public func predicateExpression() throws -> FetchExpression { .value(value) }
}

extension Int64: AttributeValue {
  public static var kind: ValueKind { .int64 }
  public var value: Value { .int64(self) }
  public init(reading field: StoredField) throws { self = try field.read(.int64) { $0.int64 } }
}

extension Int: AttributeValue {
  public static var kind: ValueKind { .int64 }
  public var value: Value { .int64(Int64(self)) }
  public init(reading field: StoredField) throws {
    self = Int(try field.read(.int64) { $0.int64 })
  }
}

extension Double: AttributeValue {
  public static var kind: ValueKind { .double }
  public var value: Value { .double(self) }
  public init(reading field: StoredField) throws { self = try field.read(.double) { $0.double } }
}

extension Decimal: AttributeValue {
  public static var kind: ValueKind { .decimal }
  public var value: Value { .decimal(self) }
  public init(reading field: StoredField) throws {
    self = try field.read(.decimal) { try $0.decimal() }
  }
}

extension Bool: AttributeValue {
  public static var kind: ValueKind { .bool }
  public var value: Value { .bool(self) }
  public init(reading field: StoredField) throws { self = try field.read(.bool) { $0.bool } }
}

extension String: AttributeValue {
  public static var kind: ValueKind { .string }
  public var value: Value { .string(self) }
  public init(reading field: StoredField) throws {
    self = try field.read(.string) { try $0.string() }
  }
}

extension Date: AttributeValue {
  public static var kind: ValueKind { .date }
  public var value: Value { .date(self) }
  public init(reading field: StoredField) throws {
    self = Date(timeIntervalSinceReferenceDate: try field.read(.date) { $0.double })
  }
}

extension UUID: AttributeValue {
  public static var kind: ValueKind { .uuid }
  public var value: Value { .uuid(self) }
  public init(reading field: StoredField) throws { self = try field.read(.uuid) { $0.uuid } }
}

extension Data: AttributeValue {
  public static var kind: ValueKind { .data }
  public var value: Value { .data(self) }
  public init(reading field: StoredField) throws {
    self = Data(try field.read(.data) { try $0.bytes() })
  }
}

extension URL: AttributeValue {
  public static var kind: ValueKind { .url }
  public var value: Value { .url(self) }
  public init(reading field: StoredField) throws { self = try field.read(.url) { try $0.url() } }
}

extension [String]: AttributeValue {
  public static var kind: ValueKind { .strings }
  public var value: Value { .strings(self) }
  public init(reading field: StoredField) throws {
    self = try field.read(.strings) { try $0.strings() }
  }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
  public static var kind: ValueKind { Wrapped.kind }
  public static var isOptional: Bool { true }
  @inlinable
  public var value: Value { self?.value ?? .null }
  @inlinable
  public init(reading field: StoredField) throws {
    self = field.isNull ? nil : try Wrapped(reading: field)
  }
}

extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
  public static var kind: ValueKind { RawValue.kind }
  @inlinable
  public var value: Value { rawValue.value }
  @inlinable
  public init(reading field: StoredField) throws {
    let raw = try RawValue(reading: field)
    guard let value = Self(rawValue: raw) else { throw field.unknown(raw.value) }
    self = value
  }
}
