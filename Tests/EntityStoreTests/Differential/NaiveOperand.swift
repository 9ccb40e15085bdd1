import EntityModel
import Foundation

/// The errors of a naive evaluation.
enum NaiveError: Error {
  /// The request has no meaning: the generator is wrong.
  case meaningless(String)
  /// A number exceeds 64 bits: a fetch may fail, or may not have evaluated that record.
  case overflow
}

/// The type of an expression, known before it is evaluated.
enum NaiveKind {
  /// A constant as it was written: it takes the kind of the other side.
  case constant(Value)
  case attribute(AttributeType)
  /// A record, by number.
  case object

  var valueKind: ValueKind? {
    switch self {
    case .constant(let value): value.kind
    case .attribute(let type): type.kind
    case .object: nil
    }
  }
}

/// One side of a comparison, bound to the records or groups that it is evaluated for.
struct NaiveOperand<Subject> {
  var kind: NaiveKind
  /// True if the path leads to many values. The evaluation then returns all of them.
  var isMany = false
  var values: (Subject) throws -> [Value]

  static func constant(_ value: Value) -> NaiveOperand {
    NaiveOperand(kind: .constant(value)) { _ in [value] }
  }

  func value(_ subject: Subject) throws -> Value { try values(subject).first ?? .null }

  /// The elements where this is a list; a null list has none.
  var elements: NaiveOperand {
    guard kind.valueKind == .strings else { return self }
    return NaiveOperand(kind: .attribute(.string), isMany: true) { subject in
      try values(subject).flatMap { list -> [Value] in
        if case .strings(let texts) = list { texts.map(Value.string) } else { [] }
      }
    }
  }

  /// This side in the kind of the other one.
  func taking(_ other: NaiveKind) throws -> NaiveOperand {
    guard case .constant = kind, case .attribute(let type) = other else { return self }
    return NaiveOperand(kind: other) { try values($0).map { try $0.taking(type) } }
  }
}

extension Value {
  /// A constant in the kind of the attribute that it is compared with.
  func taking(_ type: AttributeType) throws -> Value {
    if isNotANumber { throw NaiveError.meaningless("NaN") }
    if case .enumeration(let enumeration) = type, case .string(let name) = self,
      let named = enumeration.cases.first(where: { $0.name == name })
    {
      return named.rawValue
    }
    switch (type.kind, self) {
    case (_, .null): return self
    case (.double, .int64), (.int64, .double): return self
    case (.decimal, .int64(let number)): return .decimal(Decimal(number))
    case (.decimal, .double(let number)):
      if let decimal = Decimal(string: number.description) { return .decimal(decimal) }
    case (.bool, .int64(0)): return .bool(false)
    case (.bool, .int64(1)): return .bool(true)
    case (.date, .string(let text)), (.uuid, .string(let text)), (.url, .string(let text)),
      (.decimal, .string(let text)):
      if let value = Value(text: text, as: type.kind, now: .distantPast) { return value }
    default: if kind == type.kind { return self }
    }
    throw NaiveError.meaningless("\(self) for \(type.name)")
  }
}
