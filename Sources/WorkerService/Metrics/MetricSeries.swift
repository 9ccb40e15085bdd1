import CoreMetrics
import SystemSupport

/// The values of one name with one set of labels.
protocol MetricSeries: AnyObject, Sendable {
  /// The lines of the series.
  var samples: [MetricSample] { get }
}

/// One line of a series.
struct MetricSample {
  /// The suffix of the name, such as `_sum`.
  var suffix = ""
  /// A label besides those of the series, such as `le="0.5"`.
  var label = ""
  let value: String

  static func text(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-Inf" : "+Inf" }
    // Swift writes whole numbers as 2.0.
    let text = "\(number)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}

/// A number that only grows, except for a reset.
final class CounterSeries: MetricSeries, CounterHandler, FloatingPointCounterHandler {
  private struct State {
    /// A double would not count beyond 2^53.
    var whole: Int64 = 0
    var fractions = 0.0
  }

  private let state = Locked(State())

  func increment(by amount: Int64) {
    guard amount > 0 else { return }
    state.withLock { state in
      let (sum, overflows) = state.whole.addingReportingOverflow(amount)
      state.whole = overflows ? .max : sum
    }
  }

  func increment(by amount: Double) {
    guard amount.isFinite, amount > 0 else { return }
    state.withLock { $0.fractions += amount }
  }

  func reset() { state.withLock { $0 = State() } }

  var samples: [MetricSample] {
    let state = state.withLock { $0 }
    let isWhole = state.fractions == 0
    let sum = Double(state.whole) + state.fractions
    return [MetricSample(value: isWhole ? "\(state.whole)" : MetricSample.text(sum))]
  }
}

/// The value that was recorded last.
final class GaugeSeries: MetricSeries, MeterHandler, RecorderHandler {
  private let value = Locked(0.0)

  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { self.value.withLock { $0 = value } }
  func record(_ value: Int64) { set(Double(value)) }
  func record(_ value: Double) { set(value) }
  func increment(by amount: Double) { value.withLock { $0 += amount } }
  func decrement(by amount: Double) { value.withLock { $0 -= amount } }

  var samples: [MetricSample] { [MetricSample(value: MetricSample.text(value.withLock { $0 }))] }
}

/// The number of values and their sum.
final class SummarySeries: MetricSeries, RecorderHandler {
  private struct State {
    var count: Int64 = 0
    var sum = 0.0
  }

  private let state = Locked(State())

  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) {
    state.withLock { state in
      state.count += 1
      state.sum += value
    }
  }

  var samples: [MetricSample] {
    let state = state.withLock { $0 }
    return [
      MetricSample(suffix: "_sum", value: MetricSample.text(state.sum)),
      MetricSample(suffix: "_count", value: "\(state.count)"),
    ]
  }
}

/// A histogram of durations.
final class HistogramSeries: MetricSeries, TimerHandler {
  /// Upper bounds in seconds: those of Prometheus's own clients, and four for jobs that take
  /// minutes.
  static let bounds = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800,
  ]

  private struct State {
    /// One for each bound, and one for longer durations.
    var counts = [Int64](repeating: 0, count: HistogramSeries.bounds.count + 1)
    var seconds = 0.0
  }

  private let state = Locked(State())

  func recordNanoseconds(_ duration: Int64) {
    let seconds = Double(duration) / 1_000_000_000
    let bucket = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
    state.withLock { state in
      state.counts[bucket] += 1
      state.seconds += seconds
    }
  }

  var samples: [MetricSample] {
    let state = state.withLock { $0 }
    var samples: [MetricSample] = []
    var total: Int64 = 0
    for (bound, count) in zip(Self.bounds + [.infinity], state.counts) {
      total += count
      let label = "le=\"\(MetricSample.text(bound))\""
      samples.append(MetricSample(suffix: "_bucket", label: label, value: "\(total)"))
    }
    samples.append(MetricSample(suffix: "_sum", value: MetricSample.text(state.seconds)))
    samples.append(MetricSample(suffix: "_count", value: "\(total)"))
    return samples
  }
}
