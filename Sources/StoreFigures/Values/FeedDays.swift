public import Foundation

/// The counts of a feed on each of its last 14 days, in UTC. A count of one day is at most 65,535.
///
/// The attribute `days` of `_FeedFigures`. All numbers are little-endian. The size is always the
/// same, so that a row keeps its place while its counts grow:
///
///     0   1, 1 byte
///     1   the last day, 4 bytes, since 1970
///     5   14 groups of 10 bytes; that of a day is at 5 + 10 · (day mod 14)
///         0   runs, 2 bytes
///         2   runs without change, 2 bytes
///         4   failed runs, 2 bytes
///         6   new items, 2 bytes
///         8   changed items, 2 bytes
public struct FeedDays: Equatable, Sendable {
  /// The counts of one day.
  public struct Day: Codable, Equatable, Sendable {
    /// The beginning of the day.
    public let start: Date
    public let runs: Int
    /// The runs that the server answered with 304, or that needed no request.
    public let unchangedRuns: Int
    public let failures: Int
    public let newItems: Int
    public let changedItems: Int

    /// The counts in the order of the table.
    fileprivate var numbers: [Int] { [runs, unchangedRuns, failures, newItems, changedItems] }
  }

  public static let daysMax = 14
  private static let version: UInt8 = 1
  private static let countsPerDay = 5
  private static let byteCount = 5 + 2 * countsPerDay * daysMax

  private var last = 0
  private var counts = [UInt16](repeating: 0, count: countsPerDay * daysMax)

  init() {}

  /// The days with counts, the oldest first.
  public var days: [Day] {
    (max(0, last - Self.daysMax + 1)...last).compactMap { day in
      let numbers = counts[Self.places(of: day)].map(Int.init)
      guard numbers.contains(where: { $0 > 0 }) else { return nil }
      return Day(
        start: FigureResolution.day.start(of: Int64(day)), runs: numbers[0],
        unchangedRuns: numbers[1], failures: numbers[2], newItems: numbers[3],
        changedItems: numbers[4])
    }
  }

  /// Adds counts to a day, which may become the last one. If it is older than the days that are
  /// kept, the clock was set back, and the counts begin again.
  ///
  /// - Parameter numbers: In the order of the table.
  mutating func add(_ numbers: [Int], day: Int64) {
    let day = Int(UInt32(clamping: day))
    if day <= last - Self.daysMax {
      self = Self()
      last = day
    }
    while last < day {
      // From before the kept days on, each day begins without counts.
      last = max(last + 1, day - Self.daysMax + 1)
      for place in Self.places(of: last) { counts[place] = 0 }
    }
    for (place, number) in zip(Self.places(of: day), numbers) {
      counts[place] = UInt16(clamping: Int(counts[place]) + max(0, min(number, Int(UInt16.max))))
    }
  }

  mutating func add(_ other: FeedDays) {
    for day in other.days { add(day.numbers, day: FigureResolution.day.slot(at: day.start)) }
  }

  private static func places(of day: Int) -> Range<Int> {
    let first = countsPerDay * (day % daysMax)
    return first..<first + countsPerDay
  }
}

extension FeedDays {
  var data: Data {
    var data = Data([Self.version])
    withUnsafeBytes(of: UInt32(last).littleEndian) { data.append(contentsOf: $0) }
    for count in counts {
      withUnsafeBytes(of: count.littleEndian) { data.append(contentsOf: $0) }
    }
    return data
  }

  /// - Returns: `nil` for bytes of another form.
  init?(_ data: Data) {
    let bytes = [UInt8](data)
    guard bytes.count == Self.byteCount, bytes[0] == Self.version else { return nil }
    last = (0..<4).reduce(0) { $0 | Int(bytes[1 + $1]) << (8 * $1) }
    for place in counts.indices {
      counts[place] = UInt16(bytes[5 + 2 * place]) | UInt16(bytes[6 + 2 * place]) << 8
    }
  }
}

extension FeedDays: Codable {
  /// Reads a list of days.
  public init(from decoder: any Decoder) throws {
    self.init()
    for day in try [Day](from: decoder) {
      add(day.numbers, day: FigureResolution.day.slot(at: day.start))
    }
  }

  public func encode(to encoder: any Encoder) throws { try days.encode(to: encoder) }
}
