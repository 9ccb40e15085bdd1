import Console
import DurableJobs
import Foundation
import StatusModel

extension Page {
  /// The jobs: lanes, failures, what runs, schedules, workers.
  static func jobs(_ status: StoreStatus, actions: ActionForms) throws -> Page {
    var page = Page("Jobs", json: try JSONText.of(status.jobs))
    guard let jobs = status.jobs else {
      page.blocks.append(.html("<p class=\"empty\">The store has no jobs yet.</p>"))
      return page
    }
    let times = Times(now: status.at)
    let counts = JobState.allCases.compactMap { state -> HTML? in
      let count = jobs.count(state)
      if count == 0, state != .ready, state != .running { return nil }
      let link = "<a href=\"/jobs?state=\(state.rawValue)\">\(state.rawValue)</a>" as HTML
      return "<li class=\"\(state.rawValue)\">\(Times.count(count)) \(link)</li>"
    }
    page.blocks.append(.html("<ul class=\"counts\">\(HTML(counts))</ul>"))
    page.blocks.append(.table(lanes(jobs, times, actions)))
    page.blocks.append(.table(list("poisoned", "Poisoned jobs", jobs.poisoned, times)))
    page.blocks.append(.table(failures(jobs.failures, times)))
    page.blocks.append(.table(list("running", "Running jobs", jobs.running, times)))
    page.blocks.append(.table(schedules(jobs.schedules, times)))
    page.blocks.append(.table(workers(status.workers, times)))
    return page
  }

  /// The first jobs of a state.
  ///
  /// - Parameter total: The number of jobs in the state.
  static func jobs(
    in state: JobState, _ jobs: [JobStatus], of total: Int, at now: Date
  ) throws -> Page {
    let title = "\(state.rawValue.prefix(1).uppercased())\(state.rawValue.dropFirst()) jobs"
    var page = Page(title, json: try JSONText.of(jobs))
    var table = list(state.rawValue, title, jobs, Times(now: now))
    if jobs.count < total {
      table.footer =
        "<p>The first \(Times.count(jobs.count)) of \(Times.count(total)). All of them: "
        + "<code>mooring jobs list --state \(state.rawValue)</code></p>"
    }
    page.blocks.append(.table(table))
    return page
  }

  private static func lanes(
    _ jobs: JobsStatus, _ times: Times, _ actions: ActionForms
  ) -> WebTable {
    var table = WebTable(
      "lanes", "Queues, with the last hour",
      [
        .init("queue"), .init("kind"), .number("ready"), .number("running"), .init("oldest ready"),
        .number("succeeded"), .number("retried"), .number("failed"), .number("wait p50"),
        .number("p99"), .number("run p50"), .number("p99"), .init("note"),
      ], empty: "No job waits, and none has run in the last hour.")
    for lane in jobs.statistics.lanes {
      let ended = lane.ended
      let spreads = [
        ended.wait?.p50Seconds, ended.wait?.p99Seconds, ended.run?.p50Seconds,
        ended.run?.p99Seconds,
      ]
      let note = lane.isPaused ? "paused" : lane.isServed ? "" : "no worker knows the kind"
      table.append(
        [
          .init(lane.queue), .init(lane.kind), .init(Times.count(lane.ready)),
          .init(Times.count(lane.running)), times.cell(lane.oldestReadyAt),
          .init(Times.count(Int(ended.succeeded))), .init(Times.count(Int(ended.retried))),
          .init(Times.count(Int(ended.failed))),
        ] + spreads.map { .init($0.map(Times.duration) ?? "") }
          + [.init(note, html: "\(note) \(actions.queue(lane.queue, isPaused: lane.isPaused))")])
    }
    return table
  }

  private static func list(
    _ name: String, _ title: String, _ jobs: [JobStatus], _ times: Times
  ) -> WebTable {
    var table = WebTable(
      name, title,
      [
        .number("job"), .init("kind"), .init("queue"), .init("not before"), .init("started"),
        .number("attempts"),
        .init("progress"), .init("error"),
      ], empty: "None.")
    for job in jobs {
      let done = job.progress.done.map { Times.count(Int(clamping: $0)) } ?? ""
      let total = job.progress.total.map { " of \(Times.count(Int(clamping: $0)))" } ?? ""
      table.append([
        .init("\(job.id)", link: "/jobs/\(job.id)"), .init(job.kind), .init(job.queue),
        times.cell(job.runAt), times.cell(job.startedAt),
        .init("\(job.attempts)/\(job.attemptsMax)"),
        .init("\(done)\(total) \(job.progress.note ?? "")"), .init(job.error ?? ""),
      ])
    }
    return table
  }

  private static func failures(_ failures: [JobFailure], _ times: Times) -> WebTable {
    var table = WebTable(
      "failures", "Failed attempts",
      [
        .number("job"), .init("kind"), .init("when"), .init("outcome"), .init("now"),
        .init("error"),
      ], empty: "None.")
    for failure in failures {
      table.append([
        .init("\(failure.job)", link: "/jobs/\(failure.job)"), .init(failure.kind),
        times.cell(failure.endedAt), .init(failure.outcome), .init(failure.state.rawValue),
        .init(failure.error ?? ""),
      ])
    }
    return table
  }

  private static func schedules(_ schedules: [ScheduleStatus], _ times: Times) -> WebTable {
    var table = WebTable(
      "schedules", "Schedules",
      [
        .init("name"), .init("kind"), .init("times"), .init("next"), .init("last"), .init("note"),
      ], empty: "None.")
    for entry in schedules {
      let schedule = entry.schedule
      table.append([
        .init(schedule.name), .init(schedule.kind), .init(entry.words),
        schedule.isPaused ? .init("") : times.cell(schedule.nextAt), times.cell(schedule.lastAt),
        .init(schedule.error ?? (schedule.isPaused ? "paused" : "")),
      ])
    }
    return table
  }

  private static func workers(_ workers: [WorkerStatus], _ times: Times) -> WebTable {
    var table = WebTable(
      "workers", "Workers",
      [
        .number("process"), .init("host"), .init("state"), .init("started"), .number("running"),
        .init("command"),
      ], empty: "None runs. Start one: systemctl start mooring-worker, or mooring worker")
    for worker in workers {
      let runner = worker.runner
      let state = !runner.isAlive ? "dead" : runner.stoppedAt == nil ? "alive" : "stopping"
      table.append([
        .init("\(runner.process)"), .init(runner.host), .init(state),
        times.cell(runner.startedAt), .init(Times.count(worker.running)), .init(runner.command),
      ])
    }
    return table
  }

  // MARK: One job

  static func job(_ details: JobDetails, at now: Date, actions: ActionForms) throws -> Page {
    let job = details.job
    var page = Page("Job \(job.id)", json: try JSONText.of(details))
    let times = Times(now: now)
    page.blocks.append(
      .facts(
        "Job \(job.id): \(job.kind)",
        [
          ("state", .init(job.isCancelled ? "\(job.state), to be cancelled" : job.state.rawValue)),
          ("queue", .init(job.queue)), ("enqueued", times.cell(job.enqueuedAt)),
          ("ready at", times.cell(job.runAt)), ("started", times.cell(job.startedAt)),
          ("ended", times.cell(job.finishedAt)),
          ("attempts", .init("\(job.attempts) of \(job.attemptsMax)")),
          ("runners that died", .init(job.rescues > 0 ? "\(job.rescues)" : "")),
          ("error", .init(job.error ?? "")), ("payload", .init(job.payload)),
          ("output", .init(job.output ?? "")),
        ]))
    page.blocks.append(.html(actions.job(job)))
    var table = WebTable(
      "attempts", "Attempts that failed",
      [.number("claim"), .init("started"), .init("ended"), .init("outcome"), .init("error")],
      empty: "None.")
    for attempt in details.attempts {
      table.append([
        .init("\(attempt.number)"), times.cell(attempt.startedAt), times.cell(attempt.endedAt),
        .init(attempt.outcome), .init(attempt.error ?? ""),
      ])
    }
    page.blocks.append(.table(table))
    return page
  }
}
