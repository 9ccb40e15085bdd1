import Foundation

extension CronFields {
  /// The first instant after `second` at which the zone's clock shows a matching minute, with the
  /// gaps and overlaps of `CronExpression`.
  ///
  /// The search goes through the spans of constant offset, and through the local times of each. It
  /// begins two days early: if the clock shows a local time for the second time, it was set back
  /// within these days (the largest step ever was a day).
  func next(after second: Int, in zone: TimeZone) -> Int? {
    let end = min(second + hundredYears, WholeSecond.latest)
    var span = LocalSpan(from: second - twoDays, in: zone)
    /// The clock has shown all local times before this one.
    var shown = span.localStart
    while span.start <= end {
      if runsOnce, span.start > second, first(from: shown, before: span.localStart) != nil {
        return span.start
      }
      let from = max(second + 1, span.start) + span.offset
      let match = first(from: runsOnce ? max(from, shown) : from, before: span.localEnd)
      if let match { return match - span.offset <= end ? match - span.offset : nil }
      shown = max(shown, span.localEnd)
      span = LocalSpan(from: span.end, in: zone)
    }
    return nil
  }

  /// True if the fields leave out an hour. Then the others are times of day, each of which runs
  /// once.
  private var runsOnce: Bool { hours.count < 24 }
}

private let twoDays = 2 * 24 * 60 * 60
private let hundredYears = 36_525 * 24 * 60 * 60

/// Instants in `start..<end`, for which a zone keeps one offset.
private struct LocalSpan {
  let start: Int
  let end: Int
  let offset: Int

  init(from start: Int, in zone: TimeZone) {
    let date = WholeSecond.date(start)
    self.start = start
    offset = zone.secondsFromGMT(for: date)
    // Outside of the years that any search reaches, or of none that the zone knows.
    let forever = max(start, WholeSecond.latest) + twoDays
    let change = zone.nextDaylightSavingTimeTransition(after: date).map(WholeSecond.floor)
    end = change.flatMap { $0 > start ? $0 : nil } ?? forever
  }

  var localStart: Int { start + offset }
  var localEnd: Int { end + offset }
}
