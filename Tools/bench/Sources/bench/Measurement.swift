/// One line of the table: an operation and each candidate's samples, one per round. A candidate
/// that has no such operation has none.
struct Measurement {
  enum Better: String { case higher, lower }

  let operation: String
  let unit: String
  let better: Better
  var samples: [[Double]]

  init(_ operation: String, _ unit: String, better: Better, candidates: Int) {
    self.operation = operation
    self.unit = unit
    self.better = better
    samples = Array(repeating: [], count: candidates)
  }

  func summary(of candidate: Int) -> Summary? { Summary(samples[candidate]) }

  /// How many times better the candidate is than the first one; below 1 it is worse.
  func ratio(of candidate: Int) -> Double? {
    guard let own = summary(of: candidate)?.median, let first = summary(of: 0)?.median,
      own > 0, first > 0
    else { return nil }
    return better == .higher ? own / first : first / own
  }
}

struct Summary: Equatable {
  let median: Double
  let lowest: Double
  let highest: Double

  /// Nil for no samples.
  init?(_ samples: [Double]) {
    let sorted = samples.sorted()
    guard let lowest = sorted.first, let highest = sorted.last else { return nil }
    let middle = sorted.count / 2
    self.lowest = lowest
    self.highest = highest
    median =
      sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }
}

/// Seconds on the monotonic clock that `body` took.
func seconds(_ body: () async throws -> Void) async rethrows -> Double {
  let clock = ContinuousClock()
  let start = clock.now
  try await body()
  return (clock.now - start).seconds
}

extension Duration {
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
