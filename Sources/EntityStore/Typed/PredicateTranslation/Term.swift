import EntityModel
import Foundation

/// The meaning of a part of a `#Predicate` in one case.
enum Term {
  /// Swift's `nil`.
  case null
  /// A captured or computed value, whose optionals are unwrapped.
  case constant(Any)
  /// A value of the record, or one computed from it. `isOptional` is true if it may be null.
  case field(FetchExpression, isOptional: Bool)
  /// The record itself, with an empty path, or one that a to-one relationship leads to.
  case record(path: String, isOptional: Bool)
  /// The records of a to-many relationship.
  case records(path: String)
  /// A range; `nil` is an open end.
  indirect case range(lower: Term?, upper: Term?, isClosed: Bool)
  /// A property that is no attribute itself, but whose own properties may be attributes.
  case part(path: String, entity: any Entity.Type, keyPath: AnyKeyPath)

  /// Returns the term of a Swift value.
  static func captured(_ value: Any) -> Term {
    if let optional = value as? any OptionalValue {
      return optional.unwrapped.map(captured) ?? .null
    }
    if let range = value as? any CapturedRange { return range.term }
    return .constant(value)
  }

  static var yes: Term { .constant(true) }
  static var no: Term { .constant(false) }

  var isConstant: Bool {
    switch self {
    case .null, .constant: true
    case .range(let lower, let upper, _):
      (lower?.isConstant ?? true) && (upper?.isConstant ?? true)
    case .field, .record, .records, .part: false
    }
  }

  var isOptional: Bool {
    switch self {
    case .null, .field(_, isOptional: true), .record(_, isOptional: true): true
    default: false
    }
  }

  /// The same term, known not to be null.
  var unwrapped: Term {
    switch self {
    case .field(let expression, _): .field(expression, isOptional: false)
    case .record(let path, _): .record(path: path, isOptional: false)
    default: self
    }
  }

  /// Returns the term as one side of a comparison.
  func expression() throws -> FetchExpression {
    switch self {
    case .null: .value(.null)
    case .constant(let value): try Term.expression(of: value)
    case .field(let expression, _): expression
    case .record(let path, _): path.isEmpty ? .itself : .path(path)
    case .records: throw StoreError.untranslatable("a to-many relationship as a value")
    case .range: throw StoreError.untranslatable("a range as a value")
    case .part(_, let entity, let keyPath): throw StoreError.unknownKeyPath(keyPath, of: entity)
    }
  }

  private static func expression(of constant: Any) throws -> FetchExpression {
    switch constant {
    case let id as ObjectID: return .object(id)
    case let link as any ToOneLink: return .object(link.id)
    // The constant that the order of two texts is compared with; see `TextCompare`.
    case let order as ComparisonResult: return .value(.int64(Int64(order.rawValue)))
    case let text as Substring: return .value(.string(String(text)))
    case let character as Character: return .value(.string(String(character)))
    case let value as any AttributeValue:
      guard case .strings(let list) = value.value else { return .value(value.value) }
      return .list(list.map { .value(.string($0)) })
    default:
      throw StoreError(
        .invalidRequest, "a #Predicate captures a value that no attribute can have",
        [("type", "\(type(of: constant))")],
        advice: "capture what it is compared with: a number, a text, a date")
    }
  }
}

/// Any `Optional`, unwrapped without knowing its type.
private protocol OptionalValue { var unwrapped: Any? { get } }

extension Optional: OptionalValue {
  fileprivate var unwrapped: Any? { self }
}

/// Any range type of the standard library.
private protocol CapturedRange { var term: Term { get } }

extension Range: CapturedRange {
  fileprivate var term: Term {
    .range(lower: .captured(lowerBound), upper: .captured(upperBound), isClosed: false)
  }
}

extension ClosedRange: CapturedRange {
  fileprivate var term: Term {
    .range(lower: .captured(lowerBound), upper: .captured(upperBound), isClosed: true)
  }
}

extension PartialRangeFrom: CapturedRange {
  fileprivate var term: Term { .range(lower: .captured(lowerBound), upper: nil, isClosed: true) }
}

extension PartialRangeThrough: CapturedRange {
  fileprivate var term: Term { .range(lower: nil, upper: .captured(upperBound), isClosed: true) }
}

extension PartialRangeUpTo: CapturedRange {
  fileprivate var term: Term { .range(lower: nil, upper: .captured(upperBound), isClosed: false) }
}
