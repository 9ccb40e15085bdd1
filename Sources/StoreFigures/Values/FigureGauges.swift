/// The last known values of what has a value at any time; `nil` for one that nobody has set.
public struct FigureGauges: Codable, Equatable, Sendable {
  /// The bytes of the pages in use.
  public var storeBytes: Int64?
  /// The size of the address space: how large the file may grow.
  public var mapBytes: Int64?
  /// The feeds that are synced on schedule.
  public var feedsScheduled: Int64?
  /// Those of them that were due more than five minutes ago.
  public var feedsLate: Int64?
  /// Those of them whose last run failed.
  public var feedsFailing: Int64?
  public var jobsReady: Int64?
  /// The seconds for which the oldest ready job has been ready.
  public var oldestReadySeconds: Int64?

  public init() {}

  /// The gauges in the order in which they are stored. New ones come last.
  typealias Gauge = any WritableKeyPath<FigureGauges, Int64?> & Sendable
  static let all: [Gauge] = [
    \.storeBytes, \.mapBytes, \.feedsScheduled, \.feedsLate, \.feedsFailing, \.jobsReady,
    \.oldestReadySeconds,
  ]

  /// Takes the values of the other gauges that have one.
  mutating func update(_ other: FigureGauges) {
    for gauge in Self.all {
      if let value = other[keyPath: gauge] { self[keyPath: gauge] = value }
    }
  }

  /// Those whose changes are worth a commit of their own: the others change by a commit, or by the
  /// clock.
  var ofWork: FigureGauges {
    var gauges = self
    (gauges.storeBytes, gauges.mapBytes, gauges.oldestReadySeconds) = (nil, nil, nil)
    return gauges
  }
}
