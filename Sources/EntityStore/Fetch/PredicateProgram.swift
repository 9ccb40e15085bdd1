import EntityModel
import Foundation

/// A predicate bound to an entity: evaluated on a record's bytes, without building a value.
indirect enum PredicateProgram {
  case constant(Logic)
  case isNull(Int)
  case int64(Int, ComparisonOperator, Int64)
  case double(Int, ComparisonOperator, Double)
  case bytes(Int, ComparisonOperator, [UInt8])
  case value(Int, ComparisonOperator, Value)
  case and([PredicateProgram])
  case or([PredicateProgram])
  case not(PredicateProgram)

  /// True, false, or neither where null is compared.
  enum Logic {
    case yes, no, unknown

    @inline(__always)
    init(_ condition: Bool) { self = condition ? .yes : .no }
  }

  /// - Throws: `unknownAttribute`; `invalidRequest` for a constant of another type, NaN included.
  init(_ predicate: FetchPredicate, entity: EntityLayout) throws(StoreError) {
    switch predicate {
    case .always(let value): self = .constant(Logic(value))
    case .comparison(let whole):
      guard case .path(let name) = whole.left, case .value(let constant) = whole.right else {
        throw StoreError(.invalidRequest, "not supported yet")
      }
      self = try PredicateProgram.comparison(name, whole.comparison, constant, entity)
    case .exists: throw StoreError(.invalidRequest, "not supported yet")
    case .and(let parts):
      var programs: [PredicateProgram] = []
      for part in parts { programs.append(try PredicateProgram(part, entity: entity)) }
      self = .and(programs)
    case .or(let parts):
      var programs: [PredicateProgram] = []
      for part in parts { programs.append(try PredicateProgram(part, entity: entity)) }
      self = .or(programs)
    case .not(let part): self = .not(try PredicateProgram(part, entity: entity))
    }
  }

  private static func comparison(
    _ name: String, _ comparison: ComparisonOperator, _ constant: Value, _ entity: EntityLayout
  ) throws(StoreError) -> PredicateProgram {
    let position = try entity.position(of: name)
    let attribute = entity.description.attributes[position]
    switch try attribute.constant(constant, entity: entity.name) {
    case .null:
      // As in the format language: `== nil` asks for null, any order against null is unknown.
      switch comparison {
      case .equal: return .isNull(position)
      case .notEqual: return .not(.isNull(position))
      default: return .constant(.unknown)
      }
    case .int64(let number): return .int64(position, comparison, number)
    case .double(let number): return .double(position, comparison, number)
    case .date(let date):
      return .double(position, comparison, date.timeIntervalSinceReferenceDate)
    case .string(let text): return .bytes(position, comparison, Array(text.utf8))
    case .url(let url): return .bytes(position, comparison, Array(url.absoluteString.utf8))
    case .data(let data): return .bytes(position, comparison, Array(data))
    case let other: return .value(position, comparison, other)
    }
  }

  /// Whether a fetch returns the record.
  func matches(_ view: RecordView) throws(RecordDamage) -> Bool { try evaluate(view) == .yes }

  private func evaluate(_ view: RecordView) throws(RecordDamage) -> Logic {
    switch self {
    case .constant(let logic): return logic
    case .isNull(let position): return Logic(view.field(position).isNull)
    case .int64(let position, let comparison, let constant):
      let field = view.field(position)
      return field.isNull ? .unknown : Logic(comparison.holds(field.int64, constant))
    case .double(let position, let comparison, let constant):
      let field = view.field(position)
      return field.isNull ? .unknown : Logic(comparison.holds(field.double, constant))
    case .bytes(let position, let comparison, let constant):
      let field = view.field(position)
      if field.isNull { return .unknown }
      let bytes = try field.bytes()
      let order = constant.withUnsafeBytes { compare(bytes, $0) }
      return Logic(comparison.holds(order, 0))
    case .value(let position, let comparison, let constant):
      let value = try view.value(position)
      guard !value.isNull, let order = value.compared(with: constant) else { return .unknown }
      return Logic(comparison.holds(order) ?? false)
    case .and(let parts): return try PredicateProgram.all(parts, view)
    case .or(let parts): return try PredicateProgram.any(parts, view)
    case .not(let part):
      switch try part.evaluate(view) {
      case .yes: return .no
      case .no: return .yes
      case .unknown: return .unknown
      }
    }
  }

  private static func all(
    _ parts: [PredicateProgram], _ view: RecordView
  ) throws(RecordDamage) -> Logic {
    var logic = Logic.yes
    for part in parts {
      switch try part.evaluate(view) {
      case .no: return .no
      case .unknown: logic = .unknown
      case .yes: continue
      }
    }
    return logic
  }

  private static func any(
    _ parts: [PredicateProgram], _ view: RecordView
  ) throws(RecordDamage) -> Logic {
    var logic = Logic.no
    for part in parts {
      switch try part.evaluate(view) {
      case .yes: return .yes
      case .unknown: logic = .unknown
      case .no: continue
      }
    }
    return logic
  }
}

extension ComparisonOperator {
  @inline(__always)
  fileprivate func holds<T: Comparable>(_ left: T, _ right: T) -> Bool {
    switch self {
    case .equal: left == right
    case .notEqual: left != right
    case .less: left < right
    case .lessOrEqual: left <= right
    case .greater: left > right
    case .greaterOrEqual: left >= right
    default: false
    }
  }
}

extension AttributeDescription {
  /// The constant that a predicate compares this attribute with, in the attribute's own kind.
  ///
  /// An integer serves for a double or a decimal, a case name for an enumeration, an RFC 3339
  /// text for a date, a text for a URL or UUID.
  func constant(_ value: Value, entity: String) throws(StoreError) -> Value {
    guard let found = value.kind else { return .null }
    let kind = type.kind
    if case .enumeration(let enumeration) = type, case .string(let text) = value,
      let named = enumeration.cases.first(where: { $0.name == text })
    {
      return named.rawValue
    }
    if value.isNotANumber { throw mismatch(value, entity) }
    if kind == found { return value }
    switch (kind, value) {
    case (.double, .int64(let number)): return .double(Double(number))
    case (.decimal, .int64(let number)): return .decimal(Decimal(number))
    case (.decimal, .double), (.int64, .double): break
    case (_, .string(let text)) where [.date, .url, .uuid, .decimal].contains(kind):
      if let value = Value(text: text, as: kind, now: .distantPast) { return value }
    default: break
    }
    throw mismatch(value, entity)
  }

  private func mismatch(_ value: Value, _ entity: String) -> StoreError {
    StoreError(
      .invalidRequest, "an attribute is compared with a value of another type",
      [
        ("entity", entity), ("attribute", name), ("type", type.name),
        ("value", value.text), ("its type", value.kind?.rawValue ?? "null"),
      ])
  }
}
