import EntityModel
public import Foundation
import TextFormats

/// The times of a schedule: the expression, its time zone, the treatment of missed times, and the
/// time over which the jobs of one time are spread.
public struct Recurrence: Sendable, Hashable {
  public let expression: CronExpression
  public let zone: TimeZone
  public let missed: MissedRuns
  /// The longest delay of a run after its time, so that equal schedules do not all begin at once.
  public let jitter: Duration

  /// The largest jitter.
  public static let jitterMax: Duration = .seconds(24 * 60 * 60)

  /// - Throws: `JobError` with the code `invalidSchedule` if the jitter is negative or above
  ///   `jitterMax`, or the number of missed runs is not from 1 to `MissedRuns.maxLimit`.
  public init(
    _ expression: CronExpression, in zone: TimeZone, missed: MissedRuns = .once,
    jitter: Duration = .zero
  ) throws {
    try missed.check()
    guard (.zero...Self.jitterMax).contains(jitter) else {
      throw JobError(
        .invalidSchedule, "a jitter is out of its range", [("jitter", "\(jitter)")],
        advice: "write 0 to 86400 seconds")
    }
    self.expression = expression
    self.zone = zone
    self.missed = missed
    self.jitter = jitter
  }

  /// The first time after an instant; `nil` if there is none (see `CronExpression.next`).
  public func next(after instant: Date) -> Date? {
    expression.next(after: instant, in: zone)
  }
}

extension Recurrence {
  /// The zone of the IANA database with this name: `UTC`, `GMT`, or area and place as
  /// `Europe/Berlin`.
  ///
  /// Names such as `EST` and `GMT+1`, which Foundation knows, too, are refused: such zones have no
  /// daylight saving time, which a schedule of local times is rarely meant to ignore.
  ///
  /// - Throws: `JobError` with the code `invalidSchedule`, which names the nearest zone.
  public static func zone(named name: String) throws -> TimeZone {
    let isFormal = ["UTC", "GMT"].contains(name) || name.contains("/")
    guard isFormal, let zone = TimeZone(identifier: name) else {
      let names = TimeZone.knownTimeZoneIdentifiers.filter { $0.contains("/") } + ["UTC"]
      throw JobError(
        .invalidSchedule, "a zone is unknown", [("zone", "\"\(name)\"")],
        advice: NearestName.advice(
          on: name, among: names, otherwise: "write UTC, or area and place as Europe/Berlin"))
    }
    return zone
  }
}

extension Recurrence {
  /// The delay of a run after its time: from zero through `jitter`, in whole milliseconds.
  ///
  /// It depends on the name and the time only, so that all processes and versions agree.
  public func jitter(of time: Date, named name: String) -> Duration {
    let (seconds, attoseconds) = jitter.components
    let limit = UInt64(seconds) * 1000 + UInt64(attoseconds / 1_000_000_000_000_000)
    let second = UInt64(bitPattern: Int64(WholeSecond.floor(of: time)))
    let share = mixed(fnv1a(name.utf8) ^ mixed(second))
    return .milliseconds(Int64(share.multipliedFullWidth(by: limit + 1).high))
  }
}

/// The 64-bit hash of Fowler, Noll and Vo.
private func fnv1a(_ bytes: some Sequence<UInt8>) -> UInt64 {
  bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
}

/// The last step of SplitMix64, which makes each bit depend on all.
private func mixed(_ value: UInt64) -> UInt64 {
  var value = value &+ 0x9e37_79b9_7f4a_7c15
  value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
  value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
  return value ^ (value >> 31)
}
