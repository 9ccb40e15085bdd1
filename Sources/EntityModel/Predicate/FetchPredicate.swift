/// The condition for the records that a fetch returns: a tree of values that can be stored, sent
/// and printed.
///
/// It can be written in Core Data's format strings (`FetchPredicate(format:)`) or with Swift's
/// `#Predicate`. The logic is that of Apple's SQLite store. It is three-valued: a comparison with a
/// null side is unknown, the negation of unknown is unknown, and a record is returned only if the
/// whole predicate is true. So `attribute != 5` does not match null. The constant null is the
/// exception: `attribute == nil` and `attribute != nil` test if there is a value.
public indirect enum FetchPredicate: Hashable, Sendable {
  case always(Bool)
  case comparison(Comparison)
  /// True if at least one record at the end of a to-many path satisfies the predicate, which is
  /// evaluated on that record: `ANY episodes SATISFIES (progress == 0 AND type == 1)`.
  case exists(String, FetchPredicate)
  case and([FetchPredicate])
  case or([FetchPredicate])
  case not(FetchPredicate)

  /// Two expressions and the operator that compares them.
  public struct Comparison: Hashable, Sendable {
    public var left: FetchExpression
    public var comparison: ComparisonOperator
    public var right: FetchExpression
    public var options: ComparisonOptions
    /// The number of values that must match, for a path that leads to many values; `nil` for one
    /// value.
    public var quantifier: Quantifier?

    public init(
      _ left: FetchExpression, _ comparison: ComparisonOperator, _ right: FetchExpression,
      options: ComparisonOptions = [], quantifier: Quantifier? = nil
    ) {
      self.left = left
      self.comparison = comparison
      self.right = right
      self.options = options
      self.quantifier = quantifier
    }
  }

  /// `NONE` is `NOT ANY`, and `SOME` is `ANY`.
  public enum Quantifier: String, Hashable, Sendable {
    case any = "ANY"
    /// Every value must match. True if there are no values.
    case all = "ALL"
  }
}

extension FetchPredicate {
  /// The predicates that this one is directly made of.
  package var parts: [FetchPredicate] {
    switch self {
    case .always, .comparison: []
    case .exists(_, let part), .not(let part): [part]
    case .and(let parts), .or(let parts): parts
    }
  }

  /// Returns a comparison of the value at a key path with another value.
  public static func comparison(
    _ path: String, _ comparison: ComparisonOperator, _ value: Value,
    options: ComparisonOptions = []
  ) -> FetchPredicate {
    .comparison(Comparison(.path(path), comparison, .value(value), options: options))
  }

  /// Returns the condition that the value at a key path is null.
  public static func isNull(_ path: String) -> FetchPredicate { .comparison(path, .equal, .null) }

  /// Returns the condition that the value at a key path is not null.
  public static func isNotNull(_ path: String) -> FetchPredicate {
    .comparison(path, .notEqual, .null)
  }

  /// Returns the condition that the value at a key path is one of a list.
  public static func isIn(_ path: String, _ values: [Value]) -> FetchPredicate {
    .comparison(Comparison(.path(path), .isIn, .list(values.map(FetchExpression.value))))
  }

  /// Returns the conjunction of two predicates.
  public static func && (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    .and(left.conjuncts + right.conjuncts)
  }

  /// Returns the disjunction of two predicates.
  public static func || (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    .or(left.disjuncts + right.disjuncts)
  }

  private var disjuncts: [FetchPredicate] {
    if case .or(let parts) = self { parts } else { [self] }
  }

  /// Returns the negation of a predicate; it is unknown if the predicate is.
  public static prefix func ! (predicate: FetchPredicate) -> FetchPredicate { .not(predicate) }

  /// The conditions that must all be true, with nested conjunctions flattened.
  public var conjuncts: [FetchPredicate] {
    var flat: [FetchPredicate] = []
    // Without recursion, because a tree that a program built may be deeper than the stack allows.
    var waiting = [self]
    while let next = waiting.popLast() {
      if case .and(let parts) = next {
        waiting += parts.reversed()
      } else {
        flat.append(next)
      }
    }
    return flat
  }
}
