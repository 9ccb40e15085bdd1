/// Which records a fetch returns: a plain tree that can be stored, sent and printed.
///
/// There are two languages into it, Core Data's format strings (`FetchPredicate(format:)`) and
/// Swift's `#Predicate`, and one logic, that of Apple's SQLite store. It is three-valued: a
/// comparison in which a side is null is neither true nor false, `not` leaves it so, and a record
/// is returned only where the whole is true. `attribute != 5` does not match null.
/// The constant null itself is the exception: `attribute == nil` and `attribute != nil` ask
/// whether there is a value.
public indirect enum FetchPredicate: Hashable, Sendable {
  case always(Bool)
  case comparison(Comparison)
  /// Whether some record at the end of a to-many relationship's path satisfies a predicate, which
  /// is about that record: `ANY episodes SATISFIES (progress == 0 AND type == 1)`.
  case exists(String, FetchPredicate)
  case and([FetchPredicate])
  case or([FetchPredicate])
  case not(FetchPredicate)

  /// Two expressions and what is said of them.
  public struct Comparison: Hashable, Sendable {
    public var left: FetchExpression
    public var comparison: ComparisonOperator
    public var right: FetchExpression
    public var options: ComparisonOptions
    /// How a path that leads to many values is taken. `nil` where it leads to one.
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
    /// True where there are no values at all.
    case all = "ALL"
  }
}

extension FetchPredicate {
  public static func comparison(
    _ path: String, _ comparison: ComparisonOperator, _ value: Value,
    options: ComparisonOptions = []
  ) -> FetchPredicate {
    .comparison(Comparison(.path(path), comparison, .value(value), options: options))
  }

  public static func isNull(_ path: String) -> FetchPredicate { .comparison(path, .equal, .null) }

  public static func isNotNull(_ path: String) -> FetchPredicate {
    .comparison(path, .notEqual, .null)
  }

  public static func isIn(_ path: String, _ values: [Value]) -> FetchPredicate {
    .comparison(Comparison(.path(path), .isIn, .list(values.map(FetchExpression.value))))
  }

  public static func && (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    .and(left.conjuncts + right.conjuncts)
  }

  public static func || (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    .or(left.disjuncts + right.disjuncts)
  }

  private var disjuncts: [FetchPredicate] {
    if case .or(let parts) = self { parts } else { [self] }
  }

  public static prefix func ! (predicate: FetchPredicate) -> FetchPredicate { .not(predicate) }

  /// The parts that must all hold, nested conjunctions flattened.
  public var conjuncts: [FetchPredicate] {
    var flat: [FetchPredicate] = []
    // Not by recursion: a tree that was built by hand may be deeper than the stack.
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
