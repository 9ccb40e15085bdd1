public import CoreMetrics
import SystemSupport

/// The metrics of a process, stored in memory and written as a textfile for the textfile collector
/// of Prometheus' node_exporter.
///
/// A counter becomes a `counter` whose name ends in `_total`; a timer a `histogram` in seconds
/// whose name ends in `_seconds`; a meter, and a recorder that does not aggregate, a `gauge`; a
/// recorder that does, a `summary` without quantiles. Names begin with the prefix, and characters
/// that Prometheus does not accept become `_`: the timer `jobs.duration` is
/// `mooring_jobs_duration_seconds`.
///
/// Any thread may use it. The number of series is bounded. Series beyond the bound, and those whose
/// name has another kind of metric, drop their values and are counted in
/// `mooring_metrics_dropped_series_total`.
public final class TextfileMetrics: MetricsFactory {
  private struct State {
    /// The families by their names in the file.
    var families: [String: MetricFamily] = [:]
    var seriesCount = 0
    var droppedCount: Int64 = 0
  }

  private let prefix: String
  private let seriesMax: Int
  private let state = Locked(State())

  /// - Parameter prefix: The prefix of all names, without the `_` that follows it.
  public init(prefix: String = "mooring", seriesMax: Int = 10_000) {
    self.prefix = prefix
    self.seriesMax = seriesMax
  }

  // MARK: Making series

  public func makeCounter(
    label: String, dimensions: [(String, String)]
  ) -> any CounterHandler {
    series(label, dimensions, .counter) { CounterSeries() }
  }

  public func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    series(label, dimensions, .counter) { CounterSeries() }
  }

  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    series(label, dimensions, .gauge) { GaugeSeries() }
  }

  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    aggregate
      ? series(label, dimensions, .summary) { SummarySeries() }
      : series(label, dimensions, .gauge) { GaugeSeries() }
  }

  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    series(label, dimensions, .histogram) { HistogramSeries() }
  }

  /// Returns the series of a name and its labels, always the same one.
  private func series<Series: MetricSeries>(
    _ label: String, _ dimensions: [(String, String)], _ kind: MetricKind,
    _ make: () -> Series
  ) -> Series {
    let name = MetricName.family(label, kind, prefix: prefix)
    let labels = MetricName.labels(dimensions)
    return state.withLock { state in
      if let known = state.families[name]?.series[labels] as? Series { return known }
      let series = make()
      let isOtherKind = state.families[name].map { $0.kind != kind } ?? false
      guard !isOtherKind, state.seriesCount < seriesMax else {
        state.droppedCount += 1
        return series
      }
      state.families[name, default: MetricFamily(kind: kind, label: label)].series[labels] = series
      state.seriesCount += 1
      return series
    }
  }

  // MARK: Ending series

  public func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
  public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
    remove(handler)
  }
  public func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
  public func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
  public func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

  /// - Complexity: O(*n*) in the number of series.
  private func remove(_ handler: AnyObject) {
    state.withLock { state in
      for (name, family) in state.families {
        guard let labels = family.series.first(where: { $0.value === handler })?.key else {
          continue
        }
        state.families[name]?.series[labels] = nil
        if family.series.count == 1 { state.families[name] = nil }
        state.seriesCount -= 1
        return
      }
    }
  }

  // MARK: Text

  /// All series in the text format of Prometheus, version 0.0.4, in the order of names and labels.
  public func text() -> String {
    let (families, dropped) = state.withLock { ($0.families, $0.droppedCount) }
    var text = ""
    for (name, family) in families.sorted(by: { $0.key < $1.key }) {
      family.append(name, to: &text)
    }
    let name = "\(prefix)_metrics_dropped_series_total"
    text += "# HELP \(name) Series that were not kept, for their number or their kind.\n"
    text += "# TYPE \(name) counter\n\(name) \(dropped)\n"
    return text
  }
}

/// The kind of a family in the file.
enum MetricKind: String { case counter, gauge, summary, histogram }

/// The series of one name.
struct MetricFamily {
  let kind: MetricKind
  /// The name in the program.
  let label: String
  /// The series by the text of their labels, without braces.
  var series: [String: any MetricSeries] = [:]

  func append(_ name: String, to text: inout String) {
    text += "# HELP \(name) \(MetricName.help("The \(kind) \(label)."))\n"
    text += "# TYPE \(name) \(kind.rawValue)\n"
    for (labels, series) in series.sorted(by: { $0.key < $1.key }) {
      for sample in series.samples {
        let all = [labels, sample.label].filter { !$0.isEmpty }.joined(separator: ",")
        text += name + sample.suffix + (all.isEmpty ? "" : "{\(all)}") + " \(sample.value)\n"
      }
    }
  }
}
