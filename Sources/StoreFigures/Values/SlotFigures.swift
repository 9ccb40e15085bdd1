public import DurableJobs
import EntityStore
import FeedSync
import Foundation

/// The figures of one slot: counts of what ended in it, and the last values of its gauges.
public struct SlotFigures: Codable, Equatable, Sendable {
  // Runs of feeds by outcome.
  public var synced: Int64 = 0
  public var notModified: Int64 = 0
  public var fresh: Int64 = 0
  public var failed: Int64 = 0
  public var incomplete: Int64 = 0
  public var deletionsRefused: Int64 = 0
  // The results of these runs.
  public var newItems: Int64 = 0
  public var changedItems: Int64 = 0
  public var deletedItems: Int64 = 0
  public var rejectedItems: Int64 = 0
  /// The bytes as transferred.
  public var bytes: Int64 = 0
  public var requests: Int64 = 0
  // Attempts of jobs. One that is tried again counts as retried, one that is not as failed.
  public var jobsSucceeded: Int64 = 0
  public var jobsRetried: Int64 = 0
  public var jobsFailed: Int64 = 0

  public var gauges = FigureGauges()
  /// The failed runs by kind: the class of the HTTP status (`5xx`), or the code of the error.
  /// `other` has those beyond 16 kinds.
  public private(set) var errors: [String: Int64] = [:]
  /// The times that the runs took.
  public private(set) var runTimes = DurationHistogram()

  public init() {}

  public static let otherErrors = "other"

  /// All runs.
  public var runs: Int64 {
    synced + notModified + fresh + failed + incomplete + deletionsRefused
  }

  /// The counts in the order in which they are stored. New ones come last.
  private typealias Count = any WritableKeyPath<SlotFigures, Int64> & Sendable
  private static let counts: [Count] = [
    \.synced, \.notModified, \.fresh, \.failed, \.incomplete, \.deletionsRefused, \.newItems,
    \.changedItems, \.deletedItems, \.rejectedItems, \.bytes, \.requests, \.jobsSucceeded,
    \.jobsRetried, \.jobsFailed,
  ]

  // MARK: Counting

  mutating func count(_ report: SyncReport, seconds: Double) {
    switch report.outcome {
    case .synced: synced += 1
    case .notModified: notModified += 1
    case .fresh: fresh += 1
    case .failed: failed += 1
    case .incomplete: incomplete += 1
    case .deletionsRefused: deletionsRefused += 1
    }
    for (count, number) in [
      (\Self.newItems, report.new), (\.changedItems, report.changed),
      (\.deletedItems, report.deleted), (\.rejectedItems, report.rejected),
      (\.bytes, report.bytes), (\.requests, report.requests),
    ] {
      self[keyPath: count] = Self.sum(self[keyPath: count], Int64(number))
    }
    if report.outcome == .failed { countError(report.errorKind, 1) }
    runTimes.add(seconds)
  }

  mutating func add(_ other: SlotFigures) {
    for count in Self.counts {
      self[keyPath: count] = Self.sum(self[keyPath: count], other[keyPath: count])
    }
    gauges.update(other.gauges)
    for (kind, number) in other.errors { countError(kind, number) }
    runTimes.add(other.runTimes)
  }

  private mutating func countError(_ kind: String, _ number: Int64) {
    let kind = kind.cut(toBytes: Limits.errorKindBytesMax)
    let isNew = errors[kind] == nil && kind != Self.otherErrors
    let kinds = errors.keys.count { $0 != Self.otherErrors }
    let key = isNew && kinds >= Limits.errorKindsMax ? Self.otherErrors : kind
    errors[key] = Self.sum(errors[key] ?? 0, number)
  }

  private static func sum(_ a: Int64, _ b: Int64) -> Int64 {
    min(Limits.countMax, a + max(0, min(b, Limits.countMax)))
  }
}

// MARK: Stored form

/// The attribute `values` of `_Figure`. Numbers are varints (LEB128); what a later version adds to
/// the counts or the gauges is skipped, and what an earlier one lacks is 0 or none:
///
///     0   1, 1 byte
///         the number of the counts; the counts, in the order of `counts`
///         the number of the gauges; each gauge plus 1, or 0 for none, in the order of `all`
///         the number of the kinds of errors; of each
///             the number of bytes of its name; the name in UTF-8; its count
///         the histogram of the run times (see `DurationHistogram`), up to the end
extension SlotFigures {
  private static let version: UInt8 = 1

  /// At most `Limits.slotBytesMax` bytes: rare kinds of errors are counted as `other` until the
  /// others fit.
  var data: Data {
    var fitted = self
    while true {
      let data = fitted.encoded
      let kinds = fitted.errors.filter { $0.key != Self.otherErrors }
      let rarest = kinds.min { ($0.value, $0.key) < ($1.value, $1.key) }
      guard data.count > Limits.slotBytesMax, let rarest else { return data }
      fitted.errors[rarest.key] = nil
      fitted.errors[Self.otherErrors] = Self.sum(
        fitted.errors[Self.otherErrors] ?? 0, rarest.value)
    }
  }

  private var encoded: Data {
    var bytes = [Self.version]
    Varint.append(Self.counts.count, to: &bytes)
    for count in Self.counts { Varint.append(Int(self[keyPath: count]), to: &bytes) }
    Varint.append(FigureGauges.all.count, to: &bytes)
    for gauge in FigureGauges.all {
      let value = gauges[keyPath: gauge].map { 1 + max(0, min($0, Limits.countMax - 1)) }
      Varint.append(Int(value ?? 0), to: &bytes)
    }
    Varint.append(errors.count, to: &bytes)
    for (kind, number) in errors.sorted(by: { $0.key < $1.key }) {
      Varint.append(kind.utf8.count, to: &bytes)
      bytes += kind.utf8
      Varint.append(Int(number), to: &bytes)
    }
    return Data(bytes) + runTimes.data
  }

  /// - Returns: `nil` for bytes of another form.
  init?(_ data: Data) {
    let read = data.withUnsafeBytes { Self(reading: $0) }
    guard let read else { return nil }
    self = read
  }

  private init?(reading bytes: UnsafeRawBufferPointer) {
    var rest = bytes[...]
    func numbers() -> [Int64]? {
      guard let count = Varint.readCount(&rest), count <= rest.count else { return nil }
      var numbers: [Int64] = []
      for _ in 0..<count {
        guard let number = Varint.read(&rest).flatMap({ Int64(exactly: $0) }) else { return nil }
        numbers.append(min(number, Limits.countMax))
      }
      return numbers
    }
    guard rest.popFirst() == Self.version, let counts = numbers(), let values = numbers(),
      let kinds = Varint.readCount(&rest), kinds <= rest.count
    else { return nil }
    for (count, number) in zip(Self.counts, counts) { self[keyPath: count] = number }
    for (gauge, value) in zip(FigureGauges.all, values) where value > 0 {
      gauges[keyPath: gauge] = value - 1
    }
    for _ in 0..<kinds {
      guard let size = Varint.readCount(&rest), size <= rest.count else { return nil }
      let kind = String(decoding: rest.prefix(size), as: UTF8.self)
      rest = rest.dropFirst(size)
      guard let number = Varint.read(&rest).flatMap({ Int64(exactly: $0) }) else { return nil }
      countError(kind, number)
    }
    runTimes = DurationHistogram(Data(rest))
  }
}

extension SyncReport {
  fileprivate var errorKind: String {
    if let errorStatus, (100..<600).contains(errorStatus) { return "\(errorStatus / 100)xx" }
    return errorCode ?? SlotFigures.otherErrors
  }
}
