import Console
import DurableJobs
import EntityModel
import Foundation

/// Jobs as tables show them.
struct JobText {
  let now: Date

  init(now: Date = Date()) { self.now = now }

  /// `12 s ago`, `in 4 min 2 s`, and nothing for nothing.
  func relative(_ date: Date?) -> String {
    guard let date, abs(date.timeIntervalSince(now)) < 1e9 else { return "" }
    let seconds = date.timeIntervalSince(now)
    let text = Formatting.duration(.seconds(abs(seconds)))
    return seconds > 0 ? "in \(text)" : "\(text) ago"
  }

  /// `2026-01-31T06:30:00Z (4 min ago)`.
  func time(_ date: Date?) -> String {
    guard let date else { return "" }
    let whole = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
    return "\(Value.date(whole).text) (\(relative(date)))"
  }

  /// The time that matters most in the job's state.
  func when(_ job: JobStatus) -> String {
    switch job.state {
    case .scheduled, .ready, .held, .blocked: relative(job.runAt)
    case .running: relative(job.startedAt)
    case .succeeded, .discarded, .cancelled, .poisoned: relative(job.finishedAt)
    }
  }

  static func state(_ job: JobStatus) -> String {
    job.isCancelled ? "\(job.state), to be cancelled" : job.state.rawValue
  }

  /// `1,200 of 5,000  24 %  of part 2`, and nothing for nothing.
  static func progress(_ progress: JobProgress) -> String {
    var parts: [String] = []
    if let done = progress.done {
      let count = Formatting.count(done)
      parts.append(progress.total.map { "\(count) of \(Formatting.count($0))" } ?? count)
    }
    if let fraction = progress.fraction { parts.append("\(Int(fraction * 100)) %") }
    if let note = progress.note { parts.append(note) }
    return parts.joined(separator: "  ")
  }

  static func duration(seconds: Double?) -> String {
    seconds.map { Formatting.duration(.seconds($0)) } ?? ""
  }
}

extension Date {
  /// The date for scripts: RFC 3339 in UTC.
  var text: String { Value.date(self).text }
}
