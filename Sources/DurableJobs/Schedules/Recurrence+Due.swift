public import Foundation

/// What a schedule has to do at an instant.
public struct DueRuns: Sendable, Hashable {
  /// The times whose jobs are to be made now, oldest first.
  public var times: [Date]
  /// How many times that are due are dropped, counted up to `skippedMax`.
  public var skipped: Int
  /// When there is to be asked again: later than now, or nil if no time comes any more.
  public var next: Date?

  /// There may be more skipped than this.
  public static let skippedMax = 1000
}

extension Recurrence {
  /// A time is missed if it lies further back than this.
  public static let grace: Duration = .seconds(60)

  /// The times from `nextAt` through `now`, as far as they are to run, and the next one.
  ///
  /// `nextAt` is the stored time of the last answer. It counts as a time itself, also if the
  /// expression or the rules of the zone have changed since. Before it nothing is due: a clock that
  /// was put back makes no job twice.
  ///
  /// The cost does not grow with the time between: it is that of `next` up to `skippedMax` times for
  /// the count, and some 30 times for each time in the answer.
  public func due(nextAt: Date, now: Date) -> DueRuns {
    guard nextAt <= now else { return DueRuns(times: [], skipped: 0, next: nextAt) }
    let span = DueSpan(
      first: WholeSecond.floor(of: nextAt), now: WholeSecond.floor(of: now), of: self)
    let times: [Int]
    switch missed {
    case .skip:
      let earliest = now.addingTimeInterval(-Double(Self.grace.components.seconds))
      times = span.latest(1).filter { WholeSecond.date($0) >= earliest }
    case .once: times = span.latest(1)
    case .all(let max): times = span.latest(max)
    }
    return DueRuns(
      times: times.map { $0 == span.first ? nextAt : WholeSecond.date($0) },
      skipped: span.count(before: times.first ?? span.now + 1, max: DueRuns.skippedMax),
      next: next(after: now))
  }
}

/// The times `first`, and those after it through `now`.
private struct DueSpan {
  let first: Int
  let now: Int
  private let recurrence: Recurrence

  init(first: Int, now: Int, of recurrence: Recurrence) {
    self.first = first
    self.now = now
    self.recurrence = recurrence
  }

  /// Oldest first.
  func latest(_ count: Int) -> [Int] {
    var times: [Int] = []
    var end = now
    while times.count < count, let time = last(through: end) {
      times.append(time)
      end = time - 1
    }
    return times.reversed()
  }

  func count(before end: Int, max: Int) -> Int {
    var count = 0
    var time = first
    while time < end, count < max {
      count += 1
      guard let next = next(after: time, through: now) else { break }
      time = next
    }
    return count
  }

  /// Searched from behind, in steps that double, and then by halves: the next time of a
  /// later instant is never earlier, so that if a probe has none in the span, none after it has.
  private func last(through end: Int) -> Int? {
    guard first <= end else { return nil }
    guard var last = next(after: first, through: end) else { return first }
    var none = end
    var step = 60
    while none > last {
      let probe = max(last + (none - last) / 2, none - step)
      if step < none - last { step *= 2 }
      if let time = next(after: probe, through: end) { last = time } else { none = probe }
    }
    return last
  }

  private func next(after second: Int, through end: Int) -> Int? {
    recurrence.expression.next(after: second, in: recurrence.zone).flatMap { $0 <= end ? $0 : nil }
  }
}
