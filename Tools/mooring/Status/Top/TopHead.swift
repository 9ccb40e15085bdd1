import Console
import DurableJobs
import EntityModel
import FeedSync
import Foundation
import StatusModel

/// The upper part of the screen: the store, its problems, and the counts.
struct TopHead {
  private static let problemsMax = 5
  private static let columnsWithTime = 40

  let lines: [TopLine]

  init(_ status: StoreStatus, columns: Int, rows: Int, showsProblems: Bool) {
    var lines = [Self.title(status, columns)]
    if showsProblems {
      let room = min(Self.problemsMax, max(0, (rows - 4) / 3))
      lines += Self.problems(status, atMost: room)
    }
    if rows >= 8 { lines += Self.counts(status, columns, atMost: max(1, rows / 8)) }
    self.lines = lines
  }

  /// The folder at the left; the time and the result at the right.
  private static func title(_ status: StoreStatus, _ columns: Int) -> TopLine {
    let severities = status.problems.map(\.severity).filter { $0 != .note }
    let result =
      severities.isEmpty ? "good" : "\(severities.count) problem\(severities.count == 1 ? "" : "s")"
    let style: TopStyle = severities.first?.style ?? .good
    let whole = Date(timeIntervalSince1970: status.at.timeIntervalSince1970.rounded(.down))
    let time = Value.date(whole).text.dropFirst(11)
    // On a narrow screen the result matters more than the time.
    let right = columns >= Self.columnsWithTime ? "  \(time)  " : " "
    let room = max(0, columns - right.count - result.count)
    var line = TopLine(
      status.folder.bounded.singleLine.truncated(toWidth: room).padded(to: room), .bold)
    line.add(right)
    line.add(result, style)
    return line
  }

  private static func problems(_ status: StoreStatus, atMost count: Int) -> [TopLine] {
    let problems = status.problems
    let shown = problems.count > count ? max(0, count - 1) : problems.count
    var lines = problems.prefix(shown).map { problem in
      var line = TopLine("\(problem.severity.rawValue): ", problem.severity.style)
      let age = status.shortAge(problem.since)
      if !age.isEmpty { line.add("(\(age)) ", .faint) }
      line.add(problem.summary)
      return line
    }
    if shown < problems.count, count > 0 {
      lines.append(TopLine("and \(problems.count - shown) more: type p", .faint))
    }
    return lines
  }

  /// The counts, in as many lines as they need and may have.
  private static func counts(
    _ status: StoreStatus, _ columns: Int, atMost count: Int
  ) -> [TopLine] {
    var lines = [TopLine()]
    for (name, text) in sections(status) {
      let width = name.count + 1 + text.displayWidth
      let used = lines[lines.count - 1].width
      if used > 0, used + 2 + width > columns { lines.append(TopLine()) }
      let gap = lines[lines.count - 1].width > 0 ? "  " : ""
      lines[lines.count - 1].add("\(gap)\(name) ", .bold)
      lines[lines.count - 1].add(text)
    }
    return Array(lines.prefix(count))
  }

  private static func sections(_ status: StoreStatus) -> [(String, String)] {
    let conditions = FeedCondition.allCases.map { ($0.rawValue, status.feeds.count($0)) }
    let states = JobState.allCases.map { ($0.rawValue, status.jobs?.count($0) ?? 0) }
    let alive = status.workers.filter(\.runner.isAlive).count
    let free = status.file.volumeFreeBytes.map { ", \(Formatting.bytes(Int64($0))) free" } ?? ""
    return [
      ("feeds", words(conditions)), ("jobs", words(states)),
      ("workers", Formatting.count(Int64(alive))),
      ("file", Formatting.bytes(Int64(status.file.bytes)) + free),
    ]
  }

  private static func words(_ counts: [(String, Int)]) -> String {
    let parts = counts.filter { $0.1 > 0 }.map { "\(Formatting.count(Int64($0.1))) \($0.0)" }
    return parts.isEmpty ? "none" : parts.joined(separator: ", ")
  }
}
