import CMooringICU

/// The name of a locale that ICU has data for.
struct LocaleName {
  /// The name in the spelling of ICU: `zh_Hant_TW`, `de@collation=phonebook`.
  let text: String

  /// - Parameter spelling: language, then script and region, with `_` or `-` between and in any
  ///   case, then `@collation=KIND` if it is not the usual collation of the locale.
  init(_ spelling: String) throws(UnicodeTextError) {
    // C would read the name up to the zero byte.
    guard !spelling.utf8.contains(0) else { throw Self.unknown(spelling) }
    let halves = spelling.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    let base = Self.canonical(halves.first ?? "")
    guard halves.count == 2 else {
      guard mooring_collation_is_known(base, nil) == 1 else { throw Self.unknown(spelling) }
      text = base
      return
    }
    let keyword = "collation="
    let kind = String(halves[1].dropFirst(keyword.count))
    guard halves[1].hasPrefix(keyword), mooring_collation_is_known(base, kind) == 1 else {
      throw Self.unknown(spelling)
    }
    text = "\(base)@\(keyword)\(kind)"
  }

  /// `zh-hant-tw` as `zh_Hant_TW`.
  private static func canonical(_ name: Substring) -> String {
    let parts = name.split(omittingEmptySubsequences: false) { $0 == "_" || $0 == "-" }
    return parts.enumerated().map { position, part in
      switch (position, part.utf8.count) {
      case (0, _): part.lowercased()
      case (_, 4): part.prefix(1).uppercased() + part.dropFirst().lowercased()
      default: part.uppercased()
      }
    }.joined(separator: "_")
  }

  private static func unknown(_ spelling: String) -> UnicodeTextError {
    UnicodeTextError(
      .localeUnknown, "there is no collation for the locale", context: [("locale", spelling)],
      advice: "name one such as `de`, `zh` or `de@collation=phonebook`, or none for the root")
  }
}
