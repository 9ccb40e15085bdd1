import EntityModel

extension ComparisonOperator {
  /// Returns true if an ordering of left and right satisfies the operator; `nil` for operators that
  /// need more than the order.
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
