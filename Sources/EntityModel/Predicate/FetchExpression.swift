/// One side of a comparison, or the content of a result column.
public indirect enum FetchExpression: Hashable, Sendable {
  case value(Value)
  /// A record, given by its identity.
  case object(ObjectID)
  /// `{1, 2, 3}`.
  case list([FetchExpression])
  /// A key path to an attribute or a relationship of the record, or of a related one: `title`,
  /// `path.title`.
  case path(String)
  /// The record itself: `SELF`.
  case itself
  /// `$NAME`: a variable, which `substituting(_:)` replaces before the fetch.
  case variable(String)
  /// An aggregate over the records at the end of a to-many path, `episodes.@count` or
  /// `episodes.@sum.duration`, or over the elements of a list, `tags.@count`. The last value is the
  /// path from those records to the values; `nil` for a count.
  case collection(String, CollectionFunction, String?)
  /// An aggregate over all rows of the request or of one group: `sum(duration)`, `count(*)`.
  case aggregate(AggregateFunction, FetchExpression?)
  case arithmetic(ArithmeticOperator, FetchExpression, FetchExpression)
  case negative(FetchExpression)

  /// The expressions that this one is directly made of.
  package var parts: [FetchExpression] {
    switch self {
    case .list(let parts): parts
    case .aggregate(_, let part): part.map { [$0] } ?? []
    case .arithmetic(_, let left, let right): [left, right]
    case .negative(let part): [part]
    case .value, .object, .path, .itself, .variable, .collection: []
    }
  }
}

/// The aggregates over a to-many relationship. Null values are ignored. Without values the count
/// and the sum are 0, the others are null.
public enum CollectionFunction: String, Codable, Hashable, Sendable, CaseIterable {
  case count, sum, average = "avg", minimum = "min", maximum = "max"
}

/// The aggregates over rows, as in SQL: null values are ignored. Without values the counts are 0,
/// the others are null.
public enum AggregateFunction: String, Codable, Hashable, Sendable, CaseIterable {
  case sum
  case average
  case minimum = "min"
  case maximum = "max"
  /// The number of rows in which the argument is not null, or of all rows: `count(*)`.
  case count
  case countDistinct
}

/// The operators on numbers; a date plus or minus seconds is a date. The result is null if a side
/// is null, and for a division by zero. Two integers give an integer; a result that does not fit 64
/// bits is an error.
public enum ArithmeticOperator: String, Codable, Hashable, Sendable, CaseIterable {
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"
  /// The result is always a double.
  case power = "**"
}
