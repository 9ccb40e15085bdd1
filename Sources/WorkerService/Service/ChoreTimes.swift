/// The times of a worker's chores: the multiples of their intervals since its start. So chores with
/// different intervals wake the process together, and an idle worker rarely.
enum ChoreTimes {
  private static let start = ContinuousClock.now

  /// Returns the next time of a chore with this interval, which is later than now.
  static func next(every interval: Duration) -> ContinuousClock.Instant {
    next(every: interval, since: start, now: .now)
  }

  /// Returns the first multiple of the interval, counted from the start, that is later than a time.
  static func next(
    every interval: Duration, since start: ContinuousClock.Instant,
    now: ContinuousClock.Instant
  ) -> ContinuousClock.Instant {
    let passed = max(0, ((now - start) / interval).rounded(.down))
    return start + interval * Int(passed) + interval
  }

  /// Suspends a chore until its next time.
  static func pause(every interval: Duration) async throws {
    let time = next(every: interval)
    try await Task.sleep(until: time, clock: .continuous)
  }
}
