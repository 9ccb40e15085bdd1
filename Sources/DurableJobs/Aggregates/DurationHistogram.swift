package import Foundation

/// A histogram of durations in buckets that grow by the square root of two: a percentile is exact
/// within a fifth.
///
/// Stored sparsely:
///
///     for each bucket that is not empty, in order
///         0   bucket, 1 byte    0 ends at 10 µs, each next one √2 later; the last is open
///         1   count, 4 bytes, little-endian; at most all ones
public struct DurationHistogram: Sendable, Equatable {
  /// The counts by bucket.
  private var counts = [UInt32](repeating: 0, count: last + 1)

  private static let first = 10e-6
  /// 10 µs · √2^71 is about six days.
  private static let last = 72

  public init() {}

  /// Reads the stored form; bytes that are no entry are ignored.
  package init(_ data: Data) {
    let bytes = [UInt8](data)
    for start in stride(from: 0, to: bytes.count - 4, by: 5) {
      let count = (1...4).reduce(UInt32(0)) { $0 | UInt32(bytes[start + $1]) << (8 * ($1 - 1)) }
      counts[min(Int(bytes[start]), Self.last)] = count
    }
  }

  /// The stored form.
  package var data: Data {
    var bytes: [UInt8] = []
    for (bucket, count) in counts.enumerated() where count > 0 {
      bytes.append(UInt8(bucket))
      withUnsafeBytes(of: count.littleEndian) { bytes.append(contentsOf: $0) }
    }
    return Data(bytes)
  }

  public var count: Int { counts.reduce(0) { $0 + Int($1) } }

  /// - Parameter seconds: A negative duration counts as zero: clocks are set back.
  package mutating func add(_ seconds: Double) { add(Self.bucket(of: seconds), 1) }

  package mutating func add(_ other: DurationHistogram) {
    for (bucket, count) in other.counts.enumerated() { add(bucket, count) }
  }

  private mutating func add(_ bucket: Int, _ count: UInt32) {
    counts[bucket].addSaturating(count)
  }

  private static func bucket(of seconds: Double) -> Int {
    guard seconds > first else { return 0 }
    return Int(min(Double(last), (2 * log2(seconds / first)).rounded(.up)))
  }

  /// The buckets from the first to the last that is not empty: the longest duration in each, in
  /// seconds, with the count.
  package var buckets: [(upper: Double, count: Int)] {
    guard let first = counts.firstIndex(where: { $0 > 0 }),
      let last = counts.lastIndex(where: { $0 > 0 })
    else { return [] }
    return (first...last).map { (Self.first * pow(2, Double($0) / 2), Int(counts[$0])) }
  }

  /// The duration that the given part of all durations does not exceed.
  ///
  /// - Parameter part: 0.5 for the median.
  /// - Returns: `nil` if the histogram is empty.
  public func percentile(_ part: Double) -> Duration? {
    let total = count
    guard total > 0 else { return nil }
    let rank = max(1, Int((part * Double(total)).rounded(.up)))
    var seen = 0
    for (bucket, count) in counts.enumerated() {
      seen += Int(count)
      if seen >= rank {
        // The middle of the bucket on its own scale.
        return .seconds(Self.first * pow(2, (Double(bucket) - 0.5) / 2))
      }
    }
    return nil
  }
}

extension DurationHistogram: Codable {
  /// Reads the counts by bucket, of those that are not empty. The first one, 0, ends at 10 µs, and
  /// each next one √2 later.
  public init(from decoder: any Decoder) throws {
    self.init()
    for (bucket, count) in try [Int: UInt32](from: decoder) where counts.indices.contains(bucket) {
      counts[bucket] = count
    }
  }

  public func encode(to encoder: any Encoder) throws {
    let filled = counts.enumerated().filter { $1 > 0 }.map { ($0, $1) }
    try Dictionary(uniqueKeysWithValues: filled).encode(to: encoder)
  }
}

extension UInt32 {
  fileprivate mutating func addSaturating(_ other: UInt32) {
    let (sum, overflows) = addingReportingOverflow(other)
    self = overflows ? .max : sum
  }
}
