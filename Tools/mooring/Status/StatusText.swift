import Console
import DurableJobs
import FeedSync
import Foundation
import StatusModel
import StatusPages

/// The short form of a status for people.
struct StatusText {
  private let status: StoreStatus
  private let text: JobText

  init(_ status: StoreStatus) {
    self.status = status
    text = JobText(now: status.at)
  }

  func write(to output: inout StandardOutput) throws {
    try writeProblems(to: &output)
    if !status.problems.isEmpty { try output.write("\n") }
    var table = TextTable([.init("section"), .init("state")])
    for (name, state) in sections { table.append([name, state]) }
    try output.write(table)
  }

  func writeProblems(to output: inout StandardOutput) throws {
    for problem in status.problems {
      let since = problem.since.map { " (\(text.relative($0)))" } ?? ""
      try output.write("\(problem.severity.rawValue): \(problem.summary)\(since)".singleLine + "\n")
      try output.write("  \(problem.advice)".singleLine + "\n")
    }
  }

  // MARK: The sections

  private var sections: [(String, String)] {
    let all: [(String, String?)] = [
      ("store", store), ("feeds", feeds), ("runs", runs), ("jobs", jobs), ("workers", workers),
      ("history", history), ("migrations", migrations), ("backups", backups), ("check", check),
      ("hub", hub),
    ]
    return all.compactMap { name, state in state.map { (name, $0) } }
  }

  private var store: String {
    let file = status.file
    let records = file.entities.map(\.records).reduce(0, +)
    return list([
      status.folder, "\(count(records)) records",
      "\(bytes(file.bytes)), of which \(bytes(file.usedBytes)) are used",
      file.volumeFreeBytes.map { "\(bytes($0)) free on the disk" },
    ])
  }

  private var feeds: String {
    let conditions = FeedCondition.allCases.compactMap { condition in
      let number = status.feeds.count(condition)
      return number > 0 ? "\(count(number)) \(condition.rawValue)" : nil
    }
    if conditions.isEmpty { return "none; add one with `mooring feed add URL`" }
    return "\(count(status.feeds.total)): \(list(conditions))"
  }

  private var runs: String? {
    guard let last = status.runs.first else { return nil }
    let time = text.relative(last.run.startedAt)
    return "the last with news or an error \(time): \(last.feed), \(last.run.words)"
  }

  private var jobs: String? {
    guard let jobs = status.jobs else { return nil }
    let states = JobState.allCases.compactMap { state in
      let number = jobs.count(state)
      return number > 0 ? "\(count(number)) \(state.rawValue)" : nil
    }
    let ended = jobs.statistics.ended
    let waits = ended.wait.map {
      "waits in the last hour: half under \(duration($0.p50Seconds)), 99 % under "
        + duration($0.p99Seconds)
    }
    return states.isEmpty
      ? "none" : [list(states), waits].compactMap { $0 }.joined(separator: "; ")
  }

  private var workers: String? {
    guard status.jobs != nil else { return nil }
    let alive = status.workers.filter(\.runner.isAlive)
    if alive.isEmpty { return "none runs" }
    return list(
      alive.map { worker in
        "process \(worker.runner.process) on \(worker.runner.host), started "
          + "\(text.relative(worker.runner.startedAt)), \(count(worker.running)) running"
      })
  }

  private var history: String {
    let history = status.history
    let consumers = history.consumers.map { "\($0.name) \(count(Int($0.unread))) behind" }
    let noun = history.transactions == 1 ? "transaction" : "transactions"
    return list(["\(count(Int(history.transactions))) \(noun)"] + consumers)
  }

  private var migrations: String {
    let migrations = status.migrations
    return list([
      "\(count(migrations.applied)) applied",
      migrations.pending.isEmpty ? nil : "\(count(migrations.pending.count)) pending",
      migrations.holder.map { "being migrated by \($0)" },
    ])
  }

  private var backups: String? {
    status.backups.first { $0.exists }.map { backup in
      let verified = text.relative(backup.verifiedAt)
      return "\(backup.path), \(text.relative(backup.madeAt)), verified \(verified)"
    }
  }

  private var check: String? {
    status.check.map { check in
      let found = check.problems == 0 ? "clean" : "\(count(check.problems)) problems"
      return "\(found), \(text.relative(check.at))"
    }
  }

  private var hub: String? {
    status.hub.map { hub in
      "\(hub.name), as \(hub.machine), at entry \(count(Int(clamping: hub.entry))); "
        + "`mooring hub status` asks it"
    }
  }

  // MARK: Words

  private func list(_ parts: [String?]) -> String {
    parts.compactMap { $0 }.joined(separator: ", ")
  }
  private func count(_ number: Int) -> String { Formatting.count(Int64(number)) }
  private func bytes(_ number: Int) -> String { Formatting.bytes(Int64(number)) }
  private func duration(_ seconds: Double) -> String { Formatting.duration(.seconds(seconds)) }
}
