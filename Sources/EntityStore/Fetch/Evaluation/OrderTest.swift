import EntityModel

/// The comparison operators that depend on the order alone.
package enum OrderTest {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

  init?(_ comparison: ComparisonOperator) {
    switch comparison {
    case .equal: self = .equal
    case .notEqual: self = .notEqual
    case .less: self = .less
    case .lessOrEqual: self = .lessOrEqual
    case .greater: self = .greater
    case .greaterOrEqual: self = .greaterOrEqual
    case .between, .isIn, .contains, .beginsWith, .endsWith, .like, .matches: return nil
    }
  }

  /// The test with its sides exchanged.
  var mirrored: OrderTest {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }

  /// The test that is true where this one is false; null is not considered.
  var negated: OrderTest {
    switch self {
    case .equal: .notEqual
    case .notEqual: .equal
    case .less: .greaterOrEqual
    case .lessOrEqual: .greater
    case .greater: .lessOrEqual
    case .greaterOrEqual: .less
    }
  }

  @inline(__always)
  func holds<T: Comparable>(_ left: T, _ right: T) -> Bool {
    switch self {
    case .equal: left == right
    case .notEqual: left != right
    case .less: left < right
    case .lessOrEqual: left <= right
    case .greater: left > right
    case .greaterOrEqual: left >= right
    }
  }

  func holds(_ ordering: Ordering) -> Bool {
    switch self {
    case .equal: ordering == .same
    case .notEqual: ordering != .same
    case .less: ordering == .ascending
    case .lessOrEqual: ordering != .descending
    case .greater: ordering == .descending
    case .greaterOrEqual: ordering != .ascending
    }
  }

  var comparison: ComparisonOperator {
    switch self {
    case .equal: .equal
    case .notEqual: .notEqual
    case .less: .less
    case .lessOrEqual: .lessOrEqual
    case .greater: .greater
    case .greaterOrEqual: .greaterOrEqual
    }
  }
}

extension OrderTest {
  /// Returns the test of an integer that is equivalent to this one with a double.
  ///
  /// - Parameter real: Not NaN.
  func integerTest(_ real: Double) -> IntegerTest {
    if real >= 9_223_372_036_854_775_808 {
      return .constant(self == .less || self == .lessOrEqual || self == .notEqual)
    }
    if real < -9_223_372_036_854_775_808 {
      return .constant(self == .greater || self == .greaterOrEqual || self == .notEqual)
    }
    let floor = Int64(real.rounded(.down))
    if real == real.rounded(.down) { return .test(self, floor) }
    switch self {
    case .equal: return .constant(false)
    case .notEqual: return .constant(true)
    case .less, .lessOrEqual: return .test(.lessOrEqual, floor)
    case .greater, .greaterOrEqual: return .test(.greater, floor)
    }
  }

  /// The result of replacing the double in a comparison of integers with a double.
  enum IntegerTest {
    case test(OrderTest, Int64)
    /// The same result for every integer; null stays unknown.
    case constant(Bool)
  }
}

/// The three results of a predicate: true, false, or unknown where null is compared.
package enum Logic {
  case yes, no, unknown

  @inline(__always)
  init(_ condition: Bool) { self = condition ? .yes : .no }

  var negated: Logic {
    switch self {
    case .yes: .no
    case .no: .yes
    case .unknown: .unknown
    }
  }
}
