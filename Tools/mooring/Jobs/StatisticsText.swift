import Console
import DurableJobs
import Foundation

/// The output of `mooring jobs stats` for people, and its columns for scripts.
struct StatisticsText {
  private let statistics: JobStatistics
  private let text: JobText

  init(_ statistics: JobStatistics) {
    self.statistics = statistics
    text = JobText(now: statistics.at)
  }

  func write(to output: inout StandardOutput) throws {
    try output.write(unfinished)
    try output.write("\n")
    try output.write(ended)
    try output.write("\n")
    for note in notes { try output.write(note.singleLine + "\n") }
  }

  private var unfinished: TextTable {
    var table = TextTable([
      .init("queue"), .init("kind"), .init("ready", .number), .init("running", .number),
      .init("held", .number), .init("scheduled", .number), .init("blocked", .number),
      .init("oldest ready"), .init("note"),
    ])
    for lane in statistics.lanes where lane.hasUnfinished {
      let counts = [lane.ready, lane.running, lane.held, lane.scheduled, lane.blocked]
      table.append(
        [lane.queue, lane.kind] + counts.map { Formatting.count(Int64($0)) }
          + [text.relative(lane.oldestReadyAt), Self.note(lane)])
    }
    return table
  }

  private static func note(_ lane: JobStatistics.Lane) -> String {
    var notes: [String] = []
    if lane.isPaused { notes.append("paused") }
    if !lane.isServed { notes.append("nobody runs this kind") }
    return notes.joined(separator: ", ")
  }

  private var ended: TextTable {
    var table = TextTable([
      .init("queue"), .init("kind"), .init("succeeded", .number), .init("/min", .number),
      .init("retried", .number), .init("/min", .number), .init("failed", .number),
      .init("/min", .number), .init("wait p50", .number), .init("p99", .number),
      .init("run p50", .number), .init("p99", .number),
    ])
    for lane in statistics.lanes where !lane.ended.isEmpty {
      table.append([lane.queue, lane.kind] + Self.cells(lane.ended))
    }
    table.append(["all", ""] + Self.cells(statistics.ended))
    return table
  }

  private static func cells(_ ended: JobStatistics.Ended) -> [String] {
    let counts = [
      (ended.succeeded, ended.succeededPerMinute), (ended.retried, ended.retriedPerMinute),
      (ended.failed, ended.failedPerMinute),
    ].flatMap { [Formatting.count($0), rate($1)] }
    let times = [ended.wait?.p50Seconds, ended.wait?.p99Seconds]
    return counts
      + (times + [ended.run?.p50Seconds, ended.run?.p99Seconds])
      .map { JobText.duration(seconds: $0) }
  }

  private static func rate(_ rate: Double) -> String {
    if rate >= 100 { return Formatting.count(Int64(rate.rounded())) }
    let hundredths = Int((rate * 100).rounded())
    let digits = String(hundredths % 100)
    return "\(hundredths / 100).\(digits.count < 2 ? "0" : "")\(digits)"
  }

  private var notes: [String] {
    let kept = statistics.finished.filter { $0.value > 0 }.sorted { $0.key < $1.key }
      .map { "\(Formatting.count(Int64($0.value))) \($0.key)" }
    let live = statistics.runners.filter(\.isAlive)
    let dead = statistics.runners.count - live.count
    var lines = [
      "ended since \(text.time(statistics.since))",
      "kept: " + (kept.isEmpty ? "none" : kept.joined(separator: ", ")),
    ]
    for runner in live {
      lines.append(
        "runner \(runner.epoch): \(runner.command), pid \(runner.process)"
          + (runner.stoppedAt == nil ? "" : ", stopping"))
    }
    if dead > 0 { lines.append("dead runners whose jobs will be taken over: \(dead)") }
    if live.isEmpty { lines.append("no worker is running; start one with `mooring worker`") }
    return lines
  }

  // MARK: For scripts

  static let titles = [
    "queue", "kind", "ready", "running", "held", "scheduled", "blocked", "oldestReadyAt",
    "isPaused", "isServed", "succeeded", "retried", "failed", "succeededPerMinute",
    "retriedPerMinute", "failedPerMinute", "waitP50Seconds", "waitP99Seconds", "runP50Seconds",
    "runP99Seconds",
  ]

  static func fields(of lane: JobStatistics.Lane) -> [String?] {
    let counts = [lane.ready, lane.running, lane.held, lane.scheduled, lane.blocked]
    let ended = lane.ended
    let rates = [ended.succeededPerMinute, ended.retriedPerMinute, ended.failedPerMinute]
    let times = [
      ended.wait?.p50Seconds, ended.wait?.p99Seconds, ended.run?.p50Seconds, ended.run?.p99Seconds,
    ]
    return [lane.queue, lane.kind] + counts.map { String($0) }
      + [lane.oldestReadyAt?.text, String(lane.isPaused), String(lane.isServed)]
      + [ended.succeeded, ended.retried, ended.failed].map { String($0) }
      + rates.map { "\($0)" } + times.map { seconds in seconds.map { "\($0)" } }
  }
}

extension JobStatistics.Ended {
  fileprivate var isEmpty: Bool { succeeded + retried + failed == 0 }
}
