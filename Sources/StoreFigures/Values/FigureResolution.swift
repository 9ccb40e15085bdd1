public import Foundation

/// The lengths of the slots of figures.
public enum FigureResolution: String, Codable, CaseIterable, Sendable {
  case minute, hour, day

  /// The length of a slot in seconds.
  public var seconds: Double {
    switch self {
    case .minute: 60
    case .hour: 3_600
    case .day: 86_400
    }
  }

  /// The most slots that are kept: a day of minutes, a month of hours, two years of days.
  public var slotsMax: Int {
    switch self {
    case .minute: 1_440
    case .hour: 744
    case .day: 800
    }
  }

  /// Returns the number of the slot, since 1970 in UTC, that a time belongs to.
  func slot(at time: Date) -> Int64 {
    let slot = (time.timeIntervalSince1970 / seconds).rounded(.down)
    // `Date.distantFuture` and less sensible times.
    return Int64(max(-1e12, min(slot, 1e12)))
  }

  /// Returns the beginning of a slot.
  func start(of slot: Int64) -> Date { Date(timeIntervalSince1970: Double(slot) * seconds) }
}

/// One slot of figures.
public struct FigureSlot: Codable, Equatable, Sendable {
  public let resolution: FigureResolution
  /// The beginning of the slot.
  public let start: Date
  public let figures: SlotFigures
}
