import Foundation

/// The local times of a zone, minute by minute. It uses Foundation's calendar and no code under
/// test.
struct WalkedClock {
  let start: Date
  let end: Date
  private let minutes: [Minute]

  private struct Minute {
    let shown: Face
    /// The clock has shown it before.
    let isRepeated: Bool
    /// Skipped local times, because the clock was set forward to this minute.
    let jumpedOver: [Face]
  }

  init(_ zone: TimeZone, from start: Date, days: Int) throws {
    self.start = start
    end = start + Double(days * 86400)
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    var minutes: [Minute] = []
    var seen: Set<Date> = []
    var last: Date?
    for instant in stride(from: start, to: end, by: 60) {
      let shown = try Face.date(showing: calendar.dateComponents(Face.fields, from: instant))
      let jumpedOver = try stride(from: last ?? shown, to: shown, by: 60).filter {
        seen.insert($0).inserted
      }.map(Face.init)
      minutes.append(
        Minute(
          shown: try Face(shown), isRepeated: !seen.insert(shown).inserted, jumpedOver: jumpedOver))
      last = shown
    }
    self.minutes = minutes
  }

  /// Returns the minutes at which the expression runs, by the rules of `CronExpression`: with `*`
  /// as the hour by the clock; else each local time once, and skipped ones at the first minute
  /// after the gap.
  func times(of expression: RandomExpression) -> [Date] {
    minutes.indices.filter { index in
      let minute = minutes[index]
      if expression.hasEveryHour { return minute.shown.matches(expression) }
      return minute.jumpedOver.contains { $0.matches(expression) }
        || (!minute.isRepeated && minute.shown.matches(expression))
    }.map { start + Double($0 * 60) }
  }
}

/// A local time, and its day of the week.
private struct Face {
  private let minute: Int
  private let hour: Int
  private let day: Int
  private let month: Int
  private let weekday: Int

  static let fields: Set<Calendar.Component> = [.era, .year, .month, .day, .hour, .minute]

  private static let utc: Calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return calendar
  }()

  /// The instant at which a clock of UTC shows these.
  static func date(showing components: DateComponents) throws -> Date {
    guard let date = utc.date(from: components) else { throw CocoaError(.formatting) }
    return date
  }

  init(_ date: Date) throws {
    let components = Self.utc.dateComponents(Self.fields.union([.weekday]), from: date)
    guard let minute = components.minute, let hour = components.hour, let day = components.day,
      let month = components.month, let weekday = components.weekday
    else { throw CocoaError(.formatting) }
    (self.minute, self.hour, self.day, self.month) = (minute, hour, day, month)
    self.weekday = weekday - 1
  }

  func matches(_ expression: RandomExpression) -> Bool {
    expression.matches(minute: minute, hour: hour, day: day, month: month, weekday: weekday)
  }
}
