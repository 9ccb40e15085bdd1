public import EntityModel
public import Foundation

extension FetchPredicate {
  /// Translates a `#Predicate` into the tree, so that indexes serve it and it can be printed.
  ///
  /// ```swift
  /// try FetchPredicate(#Predicate<Episode> { $0.watchedAt != nil && $0.progress > 0.5 })
  /// // watchedAt != nil AND progress > 0.5
  /// ```
  ///
  /// The tree matches the records for whose values the closure would return true. Swift's logic has
  /// two values where the tree's has three, so that what Swift means by null is spelled out:
  /// `$0.title != "a"` of an optional becomes `title == nil OR title != "a"`.
  ///
  /// What differs from `evaluate(_:)`:
  /// - Texts are compared by their UTF-8 bytes, in Swift by canonical equivalence and in whole
  ///   characters. The two differ only for texts that are not in one normalization form, and for
  ///   `contains` and `starts(with:)` that cut a character from its combining marks.
  /// - Where Swift would trap or throw the record is not matched: a forced unwrap of nil, a
  ///   division by zero. A whole number that overflows makes the fetch throw.
  /// - `localizedStandardContains`, `localizedCompare` and `caseInsensitiveCompare` mean what the
  ///   options `[cd]`, `[l]` and `[c]` of a format string mean, on every machine the same.
  /// - Division of doubles by zero is null, and no infinity.
  /// - Values of a type that is `RawRepresentable` are in the order of their raw values, whatever
  ///   the result of their own `<`.
  ///
  /// - Throws: `invalidRequest`, naming the part that has no meaning in a fetch, or if the
  ///   predicate is too large.
  public init<T: Entity>(_ predicate: Foundation.Predicate<T>) throws {
    var translation = PredicateTranslation()
    translation.bind(predicate.variable.key, to: .record(path: "", isOptional: false))
    self = try translation.cases(of: predicate.expression).isTrue()
  }
}
