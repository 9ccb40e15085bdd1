/// A set of values of one key component, as disjoint intervals of component bytes in ascending
/// order. Null is the first value.
struct IntervalSet: Equatable {
  /// The values from `lower` up to but not including `upper`.
  struct Interval: Equatable {
    var lower: [UInt8]
    var upper: [UInt8]
    /// True if it contains only one value.
    var isPoint = false
  }

  private(set) var intervals: [Interval]

  static let all = IntervalSet([
    Interval(lower: KeyComponent.null, upper: KeyComponent.values.upper)
  ])
  static let none = IntervalSet([])
  static let null = IntervalSet(point: KeyComponent.null)
  static let notNull = IntervalSet([
    Interval(lower: KeyComponent.values.lower, upper: KeyComponent.values.upper)
  ])

  init(_ intervals: [Interval]) { self.intervals = intervals }

  init(point component: [UInt8]) {
    self.init([
      Interval(lower: component, upper: IntervalSet.successor(component), isPoint: true)
    ])
  }

  /// Creates the set of the components that begin with the bytes.
  init(prefix bytes: [UInt8]) {
    self.init([Interval(lower: bytes, upper: IntervalSet.successor(bytes))])
  }

  init(points components: [[UInt8]]) {
    self.init([])
    for component in components.sorted(by: IntervalSet.precedes)
    where component != intervals.last?.lower {
      intervals += IntervalSet(point: component).intervals
    }
  }

  /// Creates the set of the values for which an order test against a component is true. Null is not
  /// among them.
  init(_ test: OrderTest, _ component: [UInt8]) {
    let (first, end) = KeyComponent.values
    let after = IntervalSet.successor(component)
    switch test {
    case .equal: self.init(point: component)
    case .notEqual:
      self.init([Interval(lower: first, upper: component), Interval(lower: after, upper: end)])
    case .less: self.init([Interval(lower: first, upper: component)])
    case .lessOrEqual: self.init([Interval(lower: first, upper: after)])
    case .greater: self.init([Interval(lower: after, upper: end)])
    case .greaterOrEqual: self.init([Interval(lower: component, upper: end)])
    }
    intervals.removeAll { !IntervalSet.precedes($0.lower, $0.upper) }
  }

  var isAll: Bool { self == .all }
  var isEmpty: Bool { intervals.isEmpty }
  /// True if the set consists of single values.
  var isPoints: Bool { intervals.allSatisfy(\.isPoint) }
  var excludesNull: Bool { !contains(KeyComponent.null) }

  func contains(_ component: [UInt8]) -> Bool {
    // Finds the last interval that begins at or before the value.
    var low = 0
    var high = intervals.count
    while low < high {
      let middle = (low + high) / 2
      if IntervalSet.precedes(component, intervals[middle].lower) {
        high = middle
      } else {
        low = middle + 1
      }
    }
    return low > 0 && IntervalSet.precedes(component, intervals[low - 1].upper)
  }

  /// The values that are not null and not in this set.
  var complement: IntervalSet {
    var result: [Interval] = []
    var lower = KeyComponent.values.lower
    for interval in intervals {
      if IntervalSet.precedes(lower, interval.lower) {
        result.append(Interval(lower: lower, upper: interval.lower))
      }
      lower = IntervalSet.greater(lower, interval.upper)
    }
    if IntervalSet.precedes(lower, KeyComponent.values.upper) {
      result.append(Interval(lower: lower, upper: KeyComponent.values.upper))
    }
    return IntervalSet(result)
  }

  func intersection(_ other: IntervalSet) -> IntervalSet {
    if isAll { return other }
    if other.isAll { return self }
    var result: [Interval] = []
    var left = intervals[...]
    var right = other.intervals[...]
    while let a = left.first, let b = right.first {
      let lower = IntervalSet.greater(a.lower, b.lower)
      let upper = IntervalSet.lesser(a.upper, b.upper)
      if IntervalSet.precedes(lower, upper) {
        result.append(Interval(lower: lower, upper: upper, isPoint: a.isPoint || b.isPoint))
      }
      if IntervalSet.precedes(a.upper, b.upper) {
        left = left.dropFirst()
      } else {
        right = right.dropFirst()
      }
    }
    return IntervalSet(result)
  }

  /// Returns the values that are in all of the sets.
  static func intersection(of sets: [IntervalSet]) -> IntervalSet {
    // Combined in pairs: one set after the other would take quadratic time.
    var sets = sets
    while sets.count > 1 {
      sets = stride(from: 0, to: sets.count, by: 2).map { place in
        place + 1 < sets.count ? sets[place].intersection(sets[place + 1]) : sets[place]
      }
    }
    return sets.first ?? .all
  }

  /// Returns the values that are in at least one of the sets.
  static func union(of sets: [IntervalSet]) -> IntervalSet {
    let sorted = sets.flatMap(\.intervals).sorted {
      $0.lower == $1.lower ? precedes($0.upper, $1.upper) : precedes($0.lower, $1.lower)
    }
    var result: [Interval] = []
    for next in sorted {
      guard let last = result.last, precedes(next.lower, last.upper) else {
        result.append(next)
        continue
      }
      // They overlap: two equal points, or a range that contains the other interval.
      let isPoint = last.isPoint && next.isPoint
      result[result.count - 1] = Interval(
        lower: last.lower, upper: IntervalSet.greater(last.upper, next.upper), isPoint: isPoint)
    }
    return IntervalSet(result)
  }

  /// Returns the next byte string after all that begin with the bytes. Components are less than
  /// `[3]`, so that it always exists.
  private static func successor(_ bytes: [UInt8]) -> [UInt8] {
    KeyRange.successor(of: bytes) ?? KeyComponent.values.upper
  }

  /// Compares in the order of the keys.
  private static func precedes(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.withUnsafeBytes { a in b.withUnsafeBytes { b in compare(a, b) < 0 } }
  }

  private static func greater(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
    precedes(a, b) ? b : a
  }

  private static func lesser(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
    precedes(b, a) ? b : a
  }
}
