public import EntityModel
public import Foundation

extension FetchPredicate {
  /// Translates a `#Predicate` into the tree, so that indexes can be used for it and it can be
  /// printed.
  ///
  /// ```swift
  /// try FetchPredicate(#Predicate<Episode> { $0.watchedAt != nil && $0.progress > 0.5 })
  /// // watchedAt != nil AND progress > 0.5
  /// ```
  ///
  /// The tree matches the records for which the closure would return true. Swift's logic has two
  /// values and the tree's has three, so Swift's meaning of null is written out: for an optional,
  /// `$0.title != "a"` becomes `title == nil OR title != "a"`.
  ///
  /// The result differs from `evaluate(_:)` in these points:
  /// - Texts are compared by their UTF-8 bytes; Swift compares by canonical equivalence and in
  ///   whole characters. The two differ only for texts that are not in one normalization form, and
  ///   for `contains` and `starts(with:)` that separate a character from its combining marks.
  /// - A record is not matched where Swift would trap or throw: a forced unwrap of nil, a division
  ///   by zero. An integer overflow makes the fetch throw.
  /// - `localizedStandardContains`, `localizedCompare` and `caseInsensitiveCompare` have the
  ///   meaning of the options `[cd]`, `[l]` and `[c]` of a format string, the same on every
  ///   machine.
  /// - A division of doubles by zero gives null, not infinity.
  /// - Values of a type that is `RawRepresentable` are ordered by their raw values, even if the
  ///   type has its own `<`.
  ///
  /// - Throws: `invalidRequest`, naming the part that has no meaning in a fetch, or if the
  ///   predicate is too large.
  public init<T: Entity>(_ predicate: Foundation.Predicate<T>) throws {
    var translation = PredicateTranslation()
    translation.bind(predicate.variable.key, to: .record(path: "", isOptional: false))
    self = try translation.cases(of: predicate.expression).isTrue()
  }
}
