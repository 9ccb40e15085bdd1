import Console
import FeedSync

/// The counts of runs.
struct SyncOutput {
  let format: OutputFormat

  func write(_ reports: [SyncReport]) throws {
    try StandardOutput.with { output in
      try output.write(
        reports, as: format, table: reports.isEmpty ? nil : table(reports),
        titles: titles + ["error"]
      ) { cells($0) + [$0.error] }
    }
  }

  private var titles: [String] {
    [
      "feed", "outcome", "new", "changed", "unchanged", "deleted", "skipped", "rejected", "pages",
      "requests", "bytes",
    ]
  }

  private func cells(_ report: SyncReport) -> [String?] {
    [report.feed, outcome(report)] + numbers(report).map(String.init)
  }

  private func numbers(_ report: SyncReport) -> [Int] {
    [
      report.new, report.changed, report.unchanged, report.deleted, report.skipped,
      report.rejected + report.unknownKinds, report.pages, report.requests, report.bytes,
    ]
  }

  private func outcome(_ report: SyncReport) -> String {
    switch report.outcome {
    case .synced: report.isResumed ? "\(report.mode), resumed" : report.mode
    case .notModified: "not modified"
    case .fresh: "fresh"
    case .deletionsRefused: "deletions refused"
    case .incomplete: "incomplete"
    case .failed: "failed"
    }
  }

  private func table(_ reports: [SyncReport]) -> TextTable {
    var table = TextTable(
      titles.enumerated().map { .init($1, $0 < 2 ? .text : .number) })
    for report in reports {
      let numbers = numbers(report)
      table.append(
        [report.feed, outcome(report)]
          + numbers.dropLast().map { Formatting.count(Int64($0)) }
          + [Formatting.bytes(Int64(report.bytes))])
    }
    return table
  }
}

extension SyncReport {
  /// Writes what the operator should know about the run to standard error: one line of each kind,
  /// and about single items one each, up to a limit, if it is the only run. The error of a failed
  /// run says it already.
  func writeMessages(isOnly: Bool) {
    if outcome == .failed { return }
    writeRemarks(isOnly: isOnly)
    for warning in warnings { Message.say("\(feed): \(warning)") }
    if let text = deletionsText { Message.say("\(feed): \(text)") }
    if outcome == .fresh {
      Message.say(
        "\(feed): the last response is still fresh, so no request was sent; add --now")
    }
  }

  private func writeRemarks(isOnly: Bool) {
    guard isOnly else {
      if let firstRemark { Message.say("\(feed): \(firstRemark)") }
      return
    }
    for remark in rejections { Message.say(remark.text) }
    let rest = remarks - rejections.count
    if rest > 0 { Message.say("and \(Formatting.count(Int64(rest))) more") }
  }
}
