public import Foundation

/// The due times of a schedule at an instant.
public struct DueRuns: Sendable, Hashable {
  /// The times whose jobs are to be enqueued now, oldest first.
  public var times: [Date]
  /// The number of due times that are dropped, counted up to `skippedMax`.
  public var skipped: Int
  /// The next time, which is later than now; `nil` if there is none.
  public var next: Date?

  /// The bound up to which skipped times are counted.
  public static let skippedMax = 1000
}

extension Recurrence {
  /// The time after which a due time counts as missed.
  public static let grace: Duration = .seconds(60)

  /// The times from `nextAt` through `now` that are to run, and the next one.
  ///
  /// `nextAt` is the stored `next` of the last call. It counts as a time even if the expression or
  /// the rules of the zone have changed since. Nothing before it is due: a clock that was set back
  /// enqueues no job twice.
  ///
  /// - Complexity: Independent of the time between: that of up to `skippedMax` calls of `next` for
  ///   the count, and of some 30 calls for each returned time.
  public func due(nextAt: Date, now: Date) -> DueRuns {
    guard nextAt <= now else { return DueRuns(times: [], skipped: 0, next: nextAt) }
    let span = DueSpan(
      first: WholeSecond.floor(of: nextAt), now: WholeSecond.floor(of: now), recurrence: self)
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
  let recurrence: Recurrence

  /// The latest times, oldest first.
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

  /// The last time through `end`. Searches backward in steps that double, and then by halves: the
  /// next time of a later instant is never earlier, so if a probe finds none in the span, none
  /// follows it.
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
