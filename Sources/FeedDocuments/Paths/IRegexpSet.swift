/// A set of characters by ranges and Unicode categories, such as `[a-z\p{Lu}]` or `\P{N}`.
struct IRegexpSet: Sendable {
  private var ranges: [ClosedRange<UInt32>]
  private var categories: Set<Unicode.GeneralCategory>
  private var isNegated: Bool

  init(
    ranges: [ClosedRange<UInt32>] = [], categories: Set<Unicode.GeneralCategory> = [],
    isNegated: Bool = false
  ) {
    self.ranges = Self.merged(ranges)
    self.categories = categories
    self.isNegated = isNegated
  }

  /// O(log ranges).
  func contains(_ scalar: Unicode.Scalar) -> Bool {
    holds(scalar) != isNegated
  }

  private func holds(_ scalar: Unicode.Scalar) -> Bool {
    if !categories.isEmpty, categories.contains(scalar.properties.generalCategory) { return true }
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < scalar.value { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].contains(scalar.value)
  }

  /// Returns the ranges in ascending order and without overlaps.
  private static func merged(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
    var merged: [ClosedRange<UInt32>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, range.lowerBound <= last.upperBound {
        merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    return merged
  }
}

/// Unicode categories by the names that I-Regexp has for them.
extension IRegexpSet {
  /// Returns the categories of `L`, `Lu` and all the others; nil for a name that I-Regexp lacks.
  static func categories(named name: String) -> Set<Unicode.GeneralCategory>? {
    let found = names.filter { $0.key == name || name.count == 1 && $0.key.hasPrefix(name) }.values
    return found.isEmpty ? nil : Set(found)
  }

  /// Every category that a scalar can have, for complements.
  static let allCategories = Set(names.values)

  private static let names: [String: Unicode.GeneralCategory] = [
    "Lu": .uppercaseLetter, "Ll": .lowercaseLetter, "Lt": .titlecaseLetter, "Lm": .modifierLetter,
    "Lo": .otherLetter, "Mn": .nonspacingMark, "Mc": .spacingMark, "Me": .enclosingMark,
    "Nd": .decimalNumber, "Nl": .letterNumber, "No": .otherNumber, "Pc": .connectorPunctuation,
    "Pd": .dashPunctuation, "Ps": .openPunctuation, "Pe": .closePunctuation,
    "Pi": .initialPunctuation, "Pf": .finalPunctuation, "Po": .otherPunctuation, "Sm": .mathSymbol,
    "Sc": .currencySymbol, "Sk": .modifierSymbol, "So": .otherSymbol, "Zs": .spaceSeparator,
    "Zl": .lineSeparator, "Zp": .paragraphSeparator, "Cc": .control, "Cf": .format,
    "Co": .privateUse, "Cn": .unassigned,
  ]
}
