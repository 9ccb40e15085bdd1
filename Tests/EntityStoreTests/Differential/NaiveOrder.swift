import EntityModel

extension ComparisonOperator {
  /// Whether an ordering of left against right satisfies the operator; `nil` where more than the
  /// order is asked.
  func holds(_ ordering: Ordering) -> Bool? {
    switch self {
    case .equal: ordering == .same
    case .notEqual: ordering != .same
    case .less: ordering == .ascending
    case .lessOrEqual: ordering != .descending
    case .greater: ordering == .descending
    case .greaterOrEqual: ordering != .ascending
    case .between, .isIn, .contains, .beginsWith, .endsWith, .like, .matches: nil
    }
  }
}
