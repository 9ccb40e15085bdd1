import Console
import DurableJobs
import FeedSync
import Foundation
import StatusModel

extension TopTable.Row {
  init(_ job: JobStatus, _ style: TopStyle, _ status: StoreStatus) {
    let progress = JobText.progress(job.progress)
    self.init(
      key: "job \(job.id)", style: style,
      cells: [
        .init(JobText.state(job)), .init("\(job.id)", Double(job.id.rawValue)), .init(job.kind),
        .init(job.queue), status.age(job.finishedAt ?? job.startedAt),
        .init("\(job.attempts)", Double(job.attempts)), .init(job.error ?? progress),
      ],
      details: [
        ("job", "\(job.id)"), ("kind", job.kind), ("queue", job.queue),
        ("state", JobText.state(job)), ("enqueued", status.time(job.enqueuedAt)),
        ("started", status.time(job.startedAt)), ("ended", status.time(job.finishedAt)),
        ("tries", "\(job.attempts) of \(job.attemptsMax)"), ("progress", progress),
        ("error", job.error), ("payload", job.payload),
        ("command", "mooring jobs \(job.state == .poisoned ? "retry" : "show") \(job.id)"),
      ])
  }

  init(_ failure: JobFailure, _ status: StoreStatus) {
    let isOver = failure.state == .discarded
    self.init(
      key: "failure \(failure.job) \(failure.endedAt.timeIntervalSince1970)",
      style: isOver ? .critical : failure.state == .succeeded ? .faint : .warning,
      cells: [
        .init(failure.outcome), .init("\(failure.job)", Double(failure.job.rawValue)),
        .init(failure.kind), .init(failure.queue), status.age(failure.endedAt), .init("", nil),
        .init(failure.error),
      ],
      details: [
        ("job", "\(failure.job)"), ("kind", failure.kind), ("queue", failure.queue),
        ("attempt", failure.outcome), ("ended", status.time(failure.endedAt)),
        ("state now", failure.state.rawValue), ("error", failure.error),
        ("command", "mooring jobs show \(failure.job)"),
      ])
  }

  init(_ worker: WorkerStatus, _ status: StoreStatus) {
    let runner = worker.runner
    let state = !runner.isAlive ? "dead" : runner.stoppedAt == nil ? "works" : "stops"
    let name = "process \(runner.process) on \(runner.host)"
    self.init(
      key: "worker \(runner.epoch)", style: runner.isAlive ? .plain : .critical,
      cells: [
        .init("worker"), .init(name), .init(state), status.age(runner.startedAt),
        .init("\(worker.running) running"),
      ],
      details: [
        ("worker", name), ("runner", "\(runner.epoch)"), ("state", state),
        ("command line", runner.command), ("started", status.time(runner.startedAt)),
        ("running", "\(worker.running)"), ("kinds", runner.kinds.joined(separator: " ")),
        ("command", "mooring jobs runners"),
      ])
  }

  init(_ schedule: ScheduleStatus, _ status: StoreStatus) {
    let fields = schedule.schedule
    let state = fields.error == nil ? (fields.isPaused ? "paused" : "on") : "fails"
    self.init(
      key: "schedule \(fields.name)",
      style: fields.error != nil ? .critical : fields.isPaused ? .faint : .plain,
      cells: [
        .init("schedule"), .init(fields.name), .init(state),
        status.next(fields.isPaused ? nil : fields.nextAt), .init(fields.error ?? schedule.words),
      ],
      details: [
        ("schedule", fields.name), ("kind", fields.kind), ("state", state),
        ("times", schedule.words), ("expression", "\(fields.expression) \(fields.zone)"),
        ("next", status.time(fields.nextAt)), ("last", status.time(fields.lastAt)),
        ("last job", fields.lastJob.map { "\($0)" }), ("error", fields.error),
        ("command", "mooring jobs schedules"),
      ])
  }
}

extension StoreStatus {
  /// The time since a date in one unit: `12s`, `4m`, `3h`, `5d`.
  func age(_ date: Date?) -> TopTable.Cell {
    .init(shortAge(date), date?.timeIntervalSince1970)
  }

  /// The time until a date; `due` from then on.
  func next(_ date: Date?) -> TopTable.Cell {
    guard let date, date <= at else { return age(date) }
    return .init("due", date.timeIntervalSince1970)
  }

  /// The date, and how long ago it is.
  func time(_ date: Date?) -> String { JobText(now: at).time(date) }

  func shortAge(_ date: Date?) -> String {
    guard let date, abs(date.timeIntervalSince(at)) < 1e9 else { return "" }
    let seconds = Int(abs(date.timeIntervalSince(at)))
    return switch seconds {
    case ..<60: "\(seconds)s"
    case ..<3_600: "\(seconds / 60)m"
    case ..<86_400: "\(seconds / 3_600)h"
    default: "\(seconds / 86_400)d"
    }
  }
}

extension Problem.Severity {
  var style: TopStyle {
    switch self {
    case .critical: .critical
    case .warning: .warning
    case .note: .note
    }
  }
}

extension FeedCondition {
  var style: TopStyle {
    switch self {
    case .gone, .failing: .critical
    case .late, .waiting: .warning
    case .silent: .note
    case .new, .current: .plain
    case .paused: .faint
    }
  }
}
