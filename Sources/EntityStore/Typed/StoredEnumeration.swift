/// A value of a Swift enumeration that may have a raw value without a case in this program.
///
/// A property whose type is the enumeration itself throws if the store holds another raw value, for
/// example one written by a newer program. This type stores it unchanged:
///
/// ```swift
/// enum Level: Int64 { case easy = 1, hard = 2 }
/// var level: Stored<Level>        // level.value is nil for 3, and level.rawValue is 3
/// ```
public struct Stored<Case: RawRepresentable & Sendable>: RawRepresentable, AttributeValue
where Case.RawValue: AttributeValue {
  public var rawValue: Case.RawValue

  public init(rawValue: Case.RawValue) { self.rawValue = rawValue }

  public init(_ value: Case) { rawValue = value.rawValue }

  /// The case; `nil` if the raw value has none in this program.
  public var value: Case? { Case(rawValue: rawValue) }
}

extension Stored: Equatable where Case.RawValue: Equatable {}
extension Stored: Hashable where Case.RawValue: Hashable {}

/// Encoded as its raw value. A `#Predicate` captures only `Codable` values.
extension Stored: Codable where Case.RawValue: Codable {
  public init(from decoder: any Decoder) throws {
    rawValue = try decoder.singleValueContainer().decode(Case.RawValue.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }
}

/// A `Stored` value, for code that does not know its type.
protocol KeptRawValue { static func isRawValue(_ keyPath: AnyKeyPath) -> Bool }

extension Stored: KeptRawValue {
  static func isRawValue(_ keyPath: AnyKeyPath) -> Bool { keyPath == \Stored<Case>.rawValue }
}
