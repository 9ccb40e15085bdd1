/// A side of a comparison, or what a result row shows.
public indirect enum FetchExpression: Hashable, Sendable {
  case value(Value)
  /// A record, by its identity.
  case object(ObjectID)
  /// `{1, 2, 3}`.
  case list([FetchExpression])
  /// An attribute or a relationship, or one of a related record: `title`, `path.title`.
  case path(String)
  /// The record itself: `SELF`.
  case itself
  /// `$NAME`: replaced by `substituting(_:)` before the fetch.
  case variable(String)
  /// A figure over the records at the end of a to-many path, `episodes.@count` or
  /// `episodes.@sum.duration`, or over the elements of a list, `tags.@count`. The last part is the
  /// path from those records on; `nil` for a count.
  case collection(String, CollectionFunction, String?)
  /// A figure over all rows of the request or of one group: `sum(duration)`, `count(*)`.
  case aggregate(AggregateFunction, FetchExpression?)
  case arithmetic(ArithmeticOperator, FetchExpression, FetchExpression)
  case negative(FetchExpression)
}

/// Figures over a to-many relationship. Without values the count and the sum are 0, the others
/// null; values that are null do not take part.
public enum CollectionFunction: String, Codable, Hashable, Sendable, CaseIterable {
  case count, sum, average = "avg", minimum = "min", maximum = "max"
}

/// Figures over rows, as SQL has them: nulls do not take part, and without any value the counts
/// are 0, everything else is null.
public enum AggregateFunction: String, Codable, Hashable, Sendable, CaseIterable {
  case sum
  case average
  case minimum = "min"
  case maximum = "max"
  /// Of rows where the argument is not null, or of all rows: `count(*)`.
  case count
  case countDistinct
}

/// Arithmetic on numbers; a date plus or minus seconds is a date. A null side gives null, and so
/// does a division by zero. Two integers give an integer, and one that does not fit 64 bits is an
/// error.
public enum ArithmeticOperator: String, Codable, Hashable, Sendable, CaseIterable {
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"
  /// Always a double.
  case power = "**"
}
