import EntityModel

/// The ranges of an index that contain all records whose attributes have values of given sets.
struct IndexRanges {
  private(set) var ranges: [KeyRange] = []
  private(set) var prefixCounts: [Int] = []
  /// The number of leading parts that narrow the ranges.
  private(set) var usedParts = 0
  /// The number of leading parts that have a single value in each range.
  private(set) var pointParts = 0
  /// The number of leading parts that have the same single value in all ranges.
  private(set) var fixedParts = 0
  /// The number of leading parts whose sets the ranges reproduce exactly: truncated values cannot
  /// be distinguished from others with the same beginning.
  private(set) var exactParts = 0

  /// The maximum number of ranges: more cost more time than they save.
  static let rangesMax = 4_096

  /// Creates the ranges.
  ///
  /// - Parameter sets: The sets by part, for as many leading parts as are known; none is empty.
  init(of index: IndexLayout, _ sets: [IntervalSet]) {
    var prefixes: [[UInt8]] = [[]]
    for (number, set) in sets.enumerated() where !set.isAll {
      guard number == usedParts, number == pointParts,
        prefixes.count * set.intervals.count <= IndexRanges.rangesMax
      else { break }
      let extended = IndexRanges.extend(prefixes, by: set, index, index.parts[number])
      usedParts = number + 1
      if extended.isExact { exactParts = usedParts }
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

  /// Returns true if these are as many ranges as others, which come from as many parts in the same
  /// way.
  func hasShape(of other: IndexRanges) -> Bool {
    ranges.count == other.ranges.count && usedParts == other.usedParts
      && pointParts == other.pointParts && fixedParts == other.fixedParts
      && exactParts == other.exactParts
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
        // Truncated bounds may overlap: the common part is then read once.
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

  /// Returns a bound for a value. Keys hold only the beginning of a long text. A longer bound is
  /// truncated somewhat shorter than the keys: the entries in between are read, and left to the
  /// filter.
  private static func bound(
    _ component: [UInt8], _ part: IndexLayout.Part, _ index: IndexLayout, _ room: Int
  ) -> (bytes: [UInt8], isCut: Bool) {
    guard part.isText else { return (component, false) }
    let count = room - 4 - (index.isUnique ? KeyWriter.hashBytes : 0)
    return component.count <= count ? (component, false) : (Array(component.prefix(count)), true)
  }

  /// Returns the interval in the key's direction. No component is a prefix of another one, so that
  /// the complement exchanges the lower and upper bounds.
  private static func range(
    _ lower: [UInt8], _ upper: [UInt8], _ part: IndexLayout.Part
  ) -> KeyRange {
    guard part.isDescending else { return KeyRange(lower: lower, upper: upper) }
    return KeyRange(
      lower: KeyRange.successor(of: upper.map { ~$0 }) ?? [],
      upper: KeyRange.successor(of: lower.map { ~$0 }))
  }
}
