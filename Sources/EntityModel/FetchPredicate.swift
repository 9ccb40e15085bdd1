/// Which records a fetch returns: a plain tree that can be stored, sent and printed.
///
/// Its logic is that of Apple's SQLite store, three-valued: a comparison with a null attribute is
/// neither true nor false, `not` leaves it so, and a record is returned only where the whole is
/// true. `isNull` is the test for null; `attribute != 5` does not match null.
public indirect enum FetchPredicate: Codable, Hashable, Sendable {
  case always(Bool)
  case isNull(String)
  case comparison(String, ComparisonOperator, Value)
  case and([FetchPredicate])
  case or([FetchPredicate])
  case not(FetchPredicate)
}

public enum ComparisonOperator: String, Codable, Hashable, Sendable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="

  /// Whether an ordering of left against right satisfies the operator.
  public func holds(_ ordering: Ordering) -> Bool {
    switch self {
    case .equal: ordering == .same
    case .notEqual: ordering != .same
    case .less: ordering == .ascending
    case .lessOrEqual: ordering != .descending
    case .greater: ordering == .descending
    case .greaterOrEqual: ordering != .ascending
    }
  }
}

extension FetchPredicate {
  public static func isNotNull(_ attribute: String) -> FetchPredicate { .not(.isNull(attribute)) }

  public static func && (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    .and(left.conjuncts + right.conjuncts)
  }

  public static func || (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    .or([left, right])
  }

  /// The parts that must all hold, nested conjunctions flattened.
  public var conjuncts: [FetchPredicate] {
    if case .and(let parts) = self { parts.flatMap(\.conjuncts) } else { [self] }
  }
}

extension FetchPredicate: CustomStringConvertible {
  public var description: String {
    switch self {
    case .always(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .isNull(let attribute): "\(attribute) == nil"
    case .not(.isNull(let attribute)): "\(attribute) != nil"
    case .comparison(let attribute, let comparison, let value):
      "\(attribute) \(comparison.rawValue) \(FetchPredicate.literal(value))"
    case .and(let parts): FetchPredicate.joined(parts, by: " AND ", empty: "TRUEPREDICATE")
    case .or(let parts): FetchPredicate.joined(parts, by: " OR ", empty: "FALSEPREDICATE")
    case .not(let part): "NOT (\(part))"
    }
  }

  private static func joined(
    _ parts: [FetchPredicate], by word: String, empty: String
  ) -> String {
    if parts.isEmpty { return empty }
    return parts.map { part in
      switch part {
      case .and, .or: "(\(part))"
      default: part.description
      }
    }.joined(separator: word)
  }

  private static func literal(_ value: Value) -> String {
    switch value {
    case .null: "nil"
    case .int64, .double, .decimal: value.text
    case .bool(let flag): flag ? "TRUE" : "FALSE"
    default:
      "\"" + value.text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
  }
}
