import Dispatch
import Metrics
import TestSupport
import Testing
import WorkerService

@Suite struct TextfileMetricsTests {
  private let metrics = TextfileMetrics()

  @Test func eachKindOfMetricHasItsNameAndType() throws {
    Counter(
      label: "jobs.finished", dimensions: [("queue", "sync"), ("kind", "a")], factory: metrics
    )
    .increment(by: 3)
    FloatingPointCounter(label: "bytes.read", factory: metrics).increment(by: 0.5)
    Gauge(label: "jobs.ready", factory: metrics).record(7)
    Meter(label: "disk.free", factory: metrics).set(1.5)
    Recorder(label: "page.items", factory: metrics).record(20)
    Timer(label: "jobs.duration", factory: metrics).recordMilliseconds(20)
    let text = try PrometheusText(metrics.text())
    #expect(
      text.families.map { "\($0.name) \($0.type)" } == [
        "mooring_bytes_read_total counter", "mooring_disk_free gauge",
        "mooring_jobs_duration_seconds histogram", "mooring_jobs_finished_total counter",
        "mooring_jobs_ready gauge", "mooring_page_items summary",
        "mooring_metrics_dropped_series_total counter",
      ])
    #expect(text.value("mooring_jobs_finished_total", ["kind": "a", "queue": "sync"]) == 3)
    #expect(text.value("mooring_bytes_read_total") == 0.5)
    #expect(text.value("mooring_jobs_ready") == 7)
    #expect(text.value("mooring_disk_free") == 1.5)
    #expect(text.value("mooring_page_items_sum") == 20)
    #expect(text.value("mooring_page_items_count") == 1)
    #expect(text.value("mooring_jobs_duration_seconds_sum") == 0.02)
    #expect(text["mooring_jobs_duration_seconds"]?.help == "The histogram jobs.duration.")
    // Labels stand in the order of their names, whatever order they were given in.
    #expect(metrics.text().contains("mooring_jobs_finished_total{kind=\"a\",queue=\"sync\"} 3\n"))
  }

  @Test func timesFallIntoTheirBuckets() throws {
    let timer = Timer(label: "t", factory: metrics)
    // On a bound, just above it, and beyond all.
    for nanoseconds in [0, 5_000_000, 5_000_001, 10_000_000_000, 3_600_000_000_000] as [Int64] {
      timer.recordNanoseconds(nanoseconds)
    }
    let text = try PrometheusText(metrics.text())
    func bucket(_ bound: String) -> Double? {
      text.value("mooring_t_seconds_bucket", ["le": bound])
    }
    #expect(bucket("0.005") == 2)
    #expect(bucket("0.01") == 3)
    #expect(bucket("5") == 3)
    #expect(bucket("10") == 4)
    #expect(bucket("1800") == 4)
    #expect(bucket("+Inf") == 5)
  }

  @Test(arguments: [1, 2] as [UInt64])
  func hostileNamesAndLabelsBecomeAValidText(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let alphabet: [Unicode.Scalar] =
      (1...0x90).compactMap(Unicode.Scalar.init) + ["é", "😀", "\u{2028}", "\"", "\\", "\n", "_"]
    func text() -> String {
      var view = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0..<8, using: &random) {
        view.append(alphabet.randomElement(using: &random) ?? "x")
      }
      return String(view)
    }
    for round in 0..<300 {
      let metrics = TextfileMetrics()
      let value = text()
      for _ in 0..<4 {
        let dimensions = [(text(), text()), ("__name__", text()), ("le", text())]
        Counter(label: text(), dimensions: dimensions, factory: metrics).increment()
        Timer(label: text(), dimensions: dimensions, factory: metrics).recordSeconds(1)
      }
      Gauge(label: "known", dimensions: [("value", value)], factory: metrics).record(1)
      let note: Comment = "seed \(seed), round \(round): \(metrics.text())"
      #expect(throws: Never.self, note) {
        let parsed = try PrometheusText(metrics.text())
        let sample = parsed["mooring_known"]?.samples.first
        #expect(sample?.labels["value"].map { Array($0.utf8) } == Array(value.utf8), note)
      }
    }
  }

  @Test func oneNameIsOneSeriesHoweverOftenItIsCreated() throws {
    for _ in 0..<10 {
      Counter(label: "n", dimensions: [("a", "1"), ("b", "2")], factory: metrics).increment()
      Counter(label: "n", dimensions: [("b", "2"), ("a", "1")], factory: metrics).increment()
    }
    #expect(
      try PrometheusText(metrics.text()).value("mooring_n_total", ["a": "1", "b": "2"]) == 20)
  }

  @Test func seriesBeyondTheBoundAreDroppedAndCounted() throws {
    let metrics = TextfileMetrics(seriesMax: 3)
    for number in 0..<5 {
      Counter(label: "n", dimensions: [("n", "\(number)")], factory: metrics).increment()
    }
    let full = try PrometheusText(metrics.text())
    #expect(full["mooring_n_total"]?.samples.count == 3)
    #expect(full.value("mooring_metrics_dropped_series_total") == 2)
    // One that ends makes room.
    Counter(label: "n", dimensions: [("n", "0")], factory: metrics).destroy()
    Counter(label: "new", factory: metrics).increment()
    let after = try PrometheusText(metrics.text())
    #expect(after["mooring_n_total"]?.samples.count == 2)
    #expect(after.value("mooring_new_total") == 1)
  }

  @Test func aNameThatIsAnotherKindAlreadyIsDropped() throws {
    Gauge(label: "x.total", factory: metrics).record(5)
    Counter(label: "x", factory: metrics).increment()
    let text = try PrometheusText(metrics.text())
    #expect(text.value("mooring_x_total") == 5)
    #expect(text.value("mooring_metrics_dropped_series_total") == 1)
  }

  @Test func countersOnlyGrowAndSaturate() throws {
    let counter = Counter(label: "c", factory: metrics)
    counter.increment(by: 5)
    counter.increment(by: -3)
    counter.increment(by: 0)
    #expect(try PrometheusText(metrics.text()).value("mooring_c_total") == 5)
    counter.increment(by: Int64.max)
    #expect(metrics.text().contains("mooring_c_total 9223372036854775807\n"))
    counter.reset()
    #expect(try PrometheusText(metrics.text()).value("mooring_c_total") == 0)
    FloatingPointCounter(label: "f", factory: metrics).increment(by: Double.nan)
    FloatingPointCounter(label: "f", factory: metrics).increment(by: Double.infinity)
    #expect(try PrometheusText(metrics.text()).value("mooring_f_total") == 0)
  }

  @Test func gaugesTakeNaN() throws {
    for (label, value) in [
      ("a", Double.nan), ("b", .infinity), ("c", -.infinity), ("d", .leastNonzeroMagnitude),
    ] {
      Gauge(label: label, factory: metrics).record(value)
    }
    let text = metrics.text()
    for line in ["mooring_a NaN\n", "mooring_b +Inf\n", "mooring_c -Inf\n", "mooring_d 5e-324\n"] {
      #expect(text.contains(line))
    }
    #expect(throws: Never.self) { try PrometheusText(text) }
  }

  @Test func threadsLoseNoCount() throws {
    let metrics = metrics
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for round in 0..<500 {
        Counter(label: "all", factory: metrics).increment()
        Timer(label: "t", dimensions: [("n", "\(round % 7)")], factory: metrics).recordSeconds(1)
        if round.isMultiple(of: 100) { _ = metrics.text() }
      }
    }
    let text = try PrometheusText(metrics.text())
    #expect(text.value("mooring_all_total") == 4_000)
    let counts = text["mooring_t_seconds"]?.samples.filter { $0.name.hasSuffix("_count") }
    #expect(counts?.map(\.value).reduce(0, +) == 4_000)
  }
}
