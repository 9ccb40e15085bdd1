/// The places of the records of an ordered relationship: integers with gaps between them, so that a
/// record can be inserted between two others without changing their places.
enum OrderedPlaces {
  /// The gap between records that were appended one after the other: room for 32 insertions at the
  /// same point, and for 2^31 appended records.
  static let gap: Int64 = 1 << 32

  /// Returns the place after the last one.
  ///
  /// - Returns: `nil` if there is no room left.
  static func after(_ last: Int64?) -> Int64? {
    guard let last else { return 0 }
    let (next, overflows) = last.addingReportingOverflow(gap)
    return overflows ? nil : next
  }

  /// Returns ascending places.
  ///
  /// - Parameter places: The present places in the wanted order; `nil` for a record that has none
  ///   yet.
  /// - Returns: The present places, with new ones between them. If the present places do not ascend
  ///   or leave no room, all places are new, with gaps.
  static func filled(_ places: [Int64?]) -> [Int64] {
    var filled: [Int64] = []
    filled.reserveCapacity(places.count)
    var start = 0
    while start < places.count {
      if let place = places[start] {
        if let last = filled.last, last >= place { return renumbered(places.count) }
        filled.append(place)
        start += 1
        continue
      }
      let end = places[start...].firstIndex { $0 != nil } ?? places.count
      let upper = end < places.count ? places[end] : nil
      guard let between = between(filled.last, upper, count: end - start) else {
        return renumbered(places.count)
      }
      filled += between
      start = end
    }
    return filled
  }

  private static func between(_ lower: Int64?, _ upper: Int64?, count: Int) -> [Int64]? {
    let number = Int64(count)
    switch (lower, upper) {
    case (nil, nil): return renumbered(count)
    case (let lower?, nil):
      guard lower.addingReportingOverflow(gap.multiplied(by: number)).overflow == false else {
        return nil
      }
      return (1...number).map { lower + $0 * gap }
    case (nil, let upper?):
      guard upper.subtractingReportingOverflow(gap.multiplied(by: number)).overflow == false else {
        return nil
      }
      return (1...number).map { upper - (number + 1 - $0) * gap }
    case (let lower?, let upper?):
      let (room, overflows) = upper.subtractingReportingOverflow(lower)
      let step = overflows ? gap : room / (number + 1)
      guard step >= 1 else { return nil }
      return (1...number).map { lower + $0 * step }
    }
  }

  private static func renumbered(_ count: Int) -> [Int64] {
    (0..<Int64(count)).map { $0 * gap }
  }
}

extension Int64 {
  /// Returns the product, or the greatest number if the product overflows.
  fileprivate func multiplied(by other: Int64) -> Int64 {
    let (product, overflows) = multipliedReportingOverflow(by: other)
    return overflows ? .max : product
  }
}
