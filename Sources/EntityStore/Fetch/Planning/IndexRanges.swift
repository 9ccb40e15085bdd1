import EntityModel

/// The ranges of an index in which all records lie whose attributes have values of given sets.
struct IndexRanges {
  private(set) var ranges: [KeyRange] = []
  private(set) var prefixCounts: [Int] = []
  /// How many leading parts narrow the ranges.
  private(set) var usedParts = 0
  /// How many leading parts have single values, whichever range.
  private(set) var pointParts = 0
  /// How many leading parts have one single value.
  private(set) var fixedParts = 0
  /// The parts whose sets the ranges reproduce exactly: a value that is cut is not told apart from
  /// others.
  private(set) var exactParts: Set<Int> = []

  /// More ranges than that cost more than they spare.
  static let rangesMax = 4_096

  /// - Parameter sets: By part, for as many leading parts as are known; none is empty.
  init(of index: IndexLayout, _ sets: [IntervalSet]) {
    var prefixes: [[UInt8]] = [[]]
    for (number, set) in sets.enumerated() where !set.isAll {
      guard number == usedParts, number == pointParts,
        prefixes.count * set.intervals.count <= IndexRanges.rangesMax
      else { break }
      let extended = IndexRanges.extend(prefixes, by: set, index, index.parts[number])
      usedParts = number + 1
      if extended.isExact { exactParts.insert(number) }
      guard set.isPoints, extended.isExact else {
        ranges = extended.ranges
        prefixCounts = extended.prefixCounts
        return
      }
      if set.intervals.count == 1, fixedParts == number { fixedParts += 1 }
      pointParts = number + 1
      prefixes = extended.ranges.map(\.lower)
    }
    ranges = usedParts == 0 ? [.all] : prefixes.map { KeyRange(prefix: $0) }
    prefixCounts = prefixes.map(\.count)
  }

  private struct Extended {
    var ranges: [KeyRange] = []
    var prefixCounts: [Int] = []
    var isExact = true
  }

  private static func extend(
    _ prefixes: [[UInt8]], by set: IntervalSet, _ index: IndexLayout, _ part: IndexLayout.Part
  ) -> Extended {
    var extended = Extended()
    let intervals = part.isDescending ? set.intervals.reversed() : set.intervals
    for prefix in prefixes {
      let room = index.room(part, written: prefix.count)
      for interval in intervals {
        let (lower, lowerIsCut) = bound(interval.lower, part, index, room)
        if interval.isPoint, !lowerIsCut {
          let component = part.isDescending ? lower.map { ~$0 } : lower
          extended.ranges.append(KeyRange(prefix: prefix + component))
          extended.prefixCounts.append(prefix.count)
          continue
        }
        let (upper, upperIsCut) = bound(interval.upper, part, index, room)
        if lowerIsCut || upperIsCut { extended.isExact = false }
        let end = upperIsCut ? KeyRange.successor(of: upper) : upper
        let range = range(lower, end ?? upper, part)
        let next = KeyRange(
          lower: prefix + range.lower, upper: range.upper.map { prefix + $0 })
        // Bounds that were cut may meet: what both say is then read once.
        if let last = extended.ranges.last, let lastUpper = last.upper,
          next.lower.lexicographicallyPrecedes(lastUpper)
        {
          extended.ranges[extended.ranges.count - 1].upper = next.upper
          continue
        }
        extended.ranges.append(next)
        extended.prefixCounts.append(prefix.count)
      }
    }
    return extended
  }

  /// Keys hold no more than the beginning of a long text. A bound that is longer is cut somewhat
  /// shorter than they are: what lies between is read, and left to the filter.
  private static func bound(
    _ component: [UInt8], _ part: IndexLayout.Part, _ index: IndexLayout, _ room: Int
  ) -> (bytes: [UInt8], isCut: Bool) {
    guard part.isText else { return (component, false) }
    let count = room - 4 - (index.isUnique ? KeyWriter.hashBytes : 0)
    return component.count <= count ? (component, false) : (Array(component.prefix(count)), true)
  }

  /// The interval in the key's direction. No component begins with another one, so that the
  /// complement turns beginnings into ends.
  private static func range(
    _ lower: [UInt8], _ upper: [UInt8], _ part: IndexLayout.Part
  ) -> KeyRange {
    guard part.isDescending else { return KeyRange(lower: lower, upper: upper) }
    return KeyRange(
      lower: KeyRange.successor(of: upper.map { ~$0 }) ?? [],
      upper: KeyRange.successor(of: lower.map { ~$0 }))
  }
}
