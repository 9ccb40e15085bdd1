extension FetchPredicate: CustomStringConvertible {
  public var description: String {
    switch self {
    case .always(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): comparison.text
    case .exists(let path, let part): "ANY \(path) SATISFIES (\(part))"
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
}

extension FetchPredicate.Comparison {
  fileprivate var text: String { "\(left) \(comparison.rawValue) \(right)" }
}

extension FetchExpression: CustomStringConvertible {
  public var description: String {
    switch self {
    case .value(let value): FetchExpression.literal(value)
    case .object(let id): id.description
    case .list(let parts): "{" + parts.map(\.description).joined(separator: ", ") + "}"
    case .path(let path): path
    case .itself: "SELF"
    case .variable(let name): "$" + name
    case .collection(let path, let function, let rest):
      "\(path).@\(function.rawValue)" + (rest.map { "." + $0 } ?? "")
    case .aggregate(let function, let part):
      "\(function.rawValue)(\(part?.description ?? "*"))"
    case .arithmetic(let sign, let left, let right): "(\(left) \(sign.rawValue) \(right))"
    case .negative(let part): "-(\(part))"
    }
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
