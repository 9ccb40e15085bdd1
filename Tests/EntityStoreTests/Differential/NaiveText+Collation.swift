import EntityModel
import UnicodeText

extension NaiveText {
  /// Compares with the store's own collation, which has separate tests.
  static func localizedOrder(
    _ left: String, _ right: String, locale: String = "", _ options: ComparisonOptions
  ) throws -> Ordering {
    var ignored: Collator.Options = []
    if options.contains(.caseInsensitive) { ignored.insert(.ignoresCase) }
    if options.contains(.diacriticInsensitive) { ignored.insert(.ignoresDiacritics) }
    let collator = try Collator.shared(locale: locale, options: ignored)
    // SAFETY: the collator reads the bytes within the call only.
    let order = Array(left.utf8).withUnsafeBytes { left in
      Array(right.utf8).withUnsafeBytes { collator.compare(left, $0) }
    }
    return order < 0 ? .ascending : order > 0 ? .descending : .same
  }
}
