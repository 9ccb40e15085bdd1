/// Characters by ranges and Unicode categories, as `[a-z\p{Lu}]` and `\P{N}` say them.
struct IRegexpSet: Sendable {
  private var ranges: [ClosedRange<UInt32>]
  private var categories: UInt32
  private var isNegated: Bool

  /// - Parameter categories: A bit for each category of `bit(of:)`.
  init(ranges: [ClosedRange<UInt32>] = [], categories: UInt32 = 0, isNegated: Bool = false) {
    self.ranges = Self.merged(ranges)
    self.categories = categories
    self.isNegated = isNegated
  }

  /// O(log ranges).
  func contains(_ scalar: Unicode.Scalar) -> Bool {
    holds(scalar) != isNegated
  }

  private func holds(_ scalar: Unicode.Scalar) -> Bool {
    if categories & Self.bit(of: scalar.properties.generalCategory) != 0 { return true }
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < scalar.value { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].contains(scalar.value)
  }

  /// In ascending order, without overlaps.
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

/// Categories as bits.
extension IRegexpSet {
  /// The bits of `L`, `Lu` and all the others; nil for a name that I-Regexp does not have.
  static func categories(named name: String) -> UInt32? {
    let bits = names.enumerated().reduce(into: UInt32(0)) { bits, entry in
      if entry.element == name || name.count == 1 && entry.element.hasPrefix(name) {
        bits |= 1 << UInt32(entry.offset)
      }
    }
    return bits == 0 ? nil : bits
  }

  /// All that there are, for complements. `Cs` has a bit that no name sets.
  static let allCategories: UInt32 = 1 << UInt32(names.count + 1) - 1

  private static let names = [
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi",
    "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cn",
  ]

  private static func bit(of category: Unicode.GeneralCategory) -> UInt32 {
    let index: UInt32 =
      switch category {
      case .uppercaseLetter: 0
      case .lowercaseLetter: 1
      case .titlecaseLetter: 2
      case .modifierLetter: 3
      case .otherLetter: 4
      case .nonspacingMark: 5
      case .spacingMark: 6
      case .enclosingMark: 7
      case .decimalNumber: 8
      case .letterNumber: 9
      case .otherNumber: 10
      case .connectorPunctuation: 11
      case .dashPunctuation: 12
      case .openPunctuation: 13
      case .closePunctuation: 14
      case .initialPunctuation: 15
      case .finalPunctuation: 16
      case .otherPunctuation: 17
      case .mathSymbol: 18
      case .currencySymbol: 19
      case .modifierSymbol: 20
      case .otherSymbol: 21
      case .spaceSeparator: 22
      case .lineSeparator: 23
      case .paragraphSeparator: 24
      case .control: 25
      case .format: 26
      case .privateUse: 27
      case .unassigned: 28
      case .surrogate: 29
      @unknown default: 28
      }
    return 1 << index
  }
}
