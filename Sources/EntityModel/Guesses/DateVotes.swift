/// Counts in which date forms the numbers of a column are plausible dates. A number votes for each
/// form in which it lies in the range of years of that form.
///
/// The range is 1989 to 2040 where the unit is unambiguous, and narrower where two forms would
/// overlap. Seconds since 1970 and seconds since 2001 still do: a number from 600,000,000 to
/// 970,000,000 is in the years 1989 to 2000 in one form and 2020 to 2031 in the other.
package struct DateVotes: Sendable {
  private static let forms: [(form: Conversion.DateForm, range: ClosedRange<Double>)] = [
    (.julianDay, 2_447_500...2_466_500),
    (.coreDataSeconds, 126_000_000...970_000_000),
    (.unixSeconds, 600_000_000...2_210_000_000),
    (.unixMilliseconds, 600_000_000_000...2_210_000_000_000),
    (.unixMicroseconds, 600_000_000_000_000...2_210_000_000_000_000),
    (.webKitMicroseconds, 12_244_000_000_000_000...13_854_000_000_000_000),
    (.fileTime, 122_440_000_000_000_000...138_540_000_000_000_000),
    (.coreDataNanoseconds, 410_000_000_000_000_000...970_000_000_000_000_000),
    (.ticks, 627_300_000_000_000_000...643_400_000_000_000_000),
    (.unixNanoseconds, 980_000_000_000_000_000...2_210_000_000_000_000_000),
  ]
  /// The numbers that programs write in place of a missing date, Core Data's distant past among
  /// them.
  private static let sentinels: [Double] = [0, -1, -63_114_076_800]

  private var votes = Array(repeating: 0, count: forms.count)
  private var sentinelCounts = Array(repeating: 0, count: sentinels.count)
  /// The count of the numbers that are no sentinels.
  package private(set) var numbers = 0
  package private(set) var least = Double.infinity
  package private(set) var greatest = -Double.infinity
  /// The count of the seconds after 2038, in the range of 32 bits without a sign.
  package private(set) var wrapped = 0

  package init() {}

  package mutating func add(_ number: Double) {
    if let place = Self.sentinels.firstIndex(of: number) {
      sentinelCounts[place] += 1
      return
    }
    numbers += 1
    least = min(least, number)
    greatest = max(greatest, number)
    if number > Double(Int32.max), number <= Double(UInt32.max) { wrapped += 1 }
    for place in Self.forms.indices where Self.forms[place].range.contains(number) {
      votes[place] += 1
    }
  }

  /// The forms that at least nine of ten numbers support, the likeliest first.
  package var candidates: [(form: Conversion.DateForm, votes: Int)] {
    guard numbers > 0 else { return [] }
    return Self.forms.indices.filter { votes[$0] * 10 >= numbers * 9 }
      .sorted { votes[$0] > votes[$1] }
      .map { (Self.forms[$0].form, votes[$0]) }
  }

  /// The sentinels that were seen, as words, with their counts.
  package var seenSentinels: [(word: String, count: Int)] {
    Self.sentinels.indices.filter { sentinelCounts[$0] > 0 }
      .compactMap { place in
        Conversion.word(of: .double(Self.sentinels[place])).map { ($0, sentinelCounts[place]) }
      }
  }
}
