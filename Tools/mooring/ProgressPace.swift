import Console

/// How fast a stage of long work goes, as a progress line tells it.
struct ProgressPace {
  private let startedAt: ContinuousClock.Instant
  private let doneAtStart: Int64

  init(since startedAt: ContinuousClock.Instant, from doneAtStart: Int64) {
    self.startedAt = startedAt
    self.doneAtStart = doneAtStart
  }

  /// `48,000/s  12 s left`.
  ///
  /// - Parameter total: 0 where it is not known.
  /// - Returns: `nil` while there is too little to tell.
  func text(done: Int64, of total: Int64, at now: ContinuousClock.Instant) -> String? {
    let seconds = (now - startedAt) / .seconds(1)
    let done = (count: done - doneAtStart, left: total - done)
    guard done.count > 0, seconds >= 0.5 else { return nil }
    let rate = Double(done.count) / seconds
    let text = "\(Formatting.count(Int64(rate)))/s"
    if done.left <= 0 { return text }
    return text + "  \(Formatting.duration(.seconds(Double(done.left) / rate))) left"
  }
}
