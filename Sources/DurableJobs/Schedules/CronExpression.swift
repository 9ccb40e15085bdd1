public import Foundation

/// The times of a schedule, in the syntax of crontab(5).
///
/// Five fields stand between blanks: minute (0-59), hour (0-23), day of the month (1-31), month
/// (1-12 or `jan`-`dec`) and day of the week (0-7 or `sun`-`sat`; 0 and 7 are Sunday). A field is
/// `*`, a number or a list as `1,3,5`; a range as `1-5`; and a step as `*/15` or `8-18/2`. In place
/// of the fields may stand `@hourly`, `@daily` or `@midnight`, `@weekly`, `@monthly`, `@yearly` or
/// `@annually`.
///
/// A day must match both day fields, but if neither begins with `*`, then one of them is enough, as
/// in cronie: `0 0 13 * fri` is each 13th and each Friday.
///
/// `@every 90s`, `@every 15m` and `@every 2h` are a fixed period of 1 second to 8784 hours. Its
/// times are the multiples of the period since 1970 in UTC, in every zone.
///
/// **Changes of the clock.** If the hour field leaves out any hour (`30 2 * * *`, `0 */2 * * *`),
/// each time runs once: a local time that the clock passes twice counts at the first pass, and the
/// times that the clock jumps over run at the first instant after the jump, together once. If the
/// hour field holds every hour (`*/15 * * * *`), the expression follows the clock as it is shown:
/// through both passes, and without a catch-up after a jump.
public struct CronExpression: Sendable, Hashable, CustomStringConvertible {
  /// The text in lower case, with one blank between the fields. Reading it gives an equal
  /// expression; two expressions are equal if they are written alike.
  public let description: String
  let rule: CronRule

  /// - Throws: `JobError` with the code `invalidSchedule`, which names the field and the character,
  ///   counted from 1. A day that cannot come, as `0 0 30 2 *`, is refused too.
  public init(_ text: String) throws {
    let reader = try CronReader(text)
    rule = try reader.rule()
    description = reader.canonicalText
  }

  /// The first time after an instant, in a zone. Each is later than the one before.
  ///
  /// - Returns: A whole second; `nil` if no time follows within 100 years or before the year 10000.
  /// - Complexity: Grows with the fields and with the changes of the zone's offset in between, not
  ///   with the time that passes.
  public func next(after instant: Date, in zone: TimeZone) -> Date? {
    next(after: WholeSecond.floor(of: instant), in: zone).map(WholeSecond.date)
  }

  func next(after second: Int, in zone: TimeZone) -> Int? {
    switch rule {
    case .every(let period): WholeSecond.next(multipleOf: period, after: second)
    case .fields(let fields): fields.next(after: second, in: zone)
    }
  }
}

enum CronRule: Sendable, Hashable {
  case every(seconds: Int)
  case fields(CronFields)
}
