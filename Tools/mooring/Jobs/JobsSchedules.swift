import ArgumentParser
import Console
import DurableJobs

struct JobsSchedules: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schedules", abstract: "Lists the schedules.",
    discussion: """
      mooring jobs schedules --format json
      """)

  @OptionGroup var options: StoreOptions
  @Option(help: OutputFormat.allHelp) var format = OutputFormat.table

  func run() async throws {
    let schedules = try options.jobsToRead().scheduleStatuses()
    try StandardOutput.with { output in
      try output.write(
        schedules, as: format, table: Self.table(schedules), titles: Self.titles,
        fields: Self.fields)
    }
  }

  private static let titles = [
    "name", "expression", "zone", "kind", "missed", "jitterSeconds", "overlaps", "isPaused",
    "nextAt", "lastAt", "lastJob", "error",
  ]

  private static func fields(of schedule: JobScheduleStatus) -> [String?] {
    [
      schedule.name, schedule.expression, schedule.zone, schedule.kind, schedule.missed,
      "\(schedule.jitterSeconds)", String(schedule.overlaps), String(schedule.isPaused),
      schedule.nextAt?.text, schedule.lastAt?.text, schedule.lastJob?.description, schedule.error,
    ]
  }

  private static func table(_ schedules: [JobScheduleStatus]) -> TextTable {
    var table = TextTable([
      .init("schedule"), .init("expression"), .init("zone"), .init("kind"), .init("next"),
      .init("last"), .init("last job", .number), .init("note"),
    ])
    let text = JobText()
    for schedule in schedules {
      let note = schedule.error ?? (schedule.isPaused ? "paused" : "")
      table.append([
        schedule.name, schedule.expression, schedule.zone, schedule.kind,
        schedule.isPaused ? "" : text.time(schedule.nextAt), text.time(schedule.lastAt),
        schedule.lastJob?.description ?? "", note,
      ])
    }
    return table
  }
}
