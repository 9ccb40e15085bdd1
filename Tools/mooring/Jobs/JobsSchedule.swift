import ArgumentParser
import Console
import DurableJobs

struct JobsSchedule: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schedule",
    abstract: "Adds or changes a schedule, which enqueues jobs by a cron expression.",
    discussion: """
      mooring jobs schedule nightly --cron '30 3 * * *' --kind store.check
      mooring jobs schedule one --cron @daily --kind feed.sync --payload '{"feed":1}'

      The expression has the fields minute, hour, day, month and weekday, or is @hourly, @daily, \
      @weekly, @monthly, @yearly, or @every 15m. A schedule with the same name gets the new form. \
      Any running worker enqueues the jobs, whatever kinds it knows.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "A name to find it by.") var name: String
  @Option(help: ArgumentHelp("When: '*/15 * * * *'.", valueName: "expression")) var cron: String
  @Option(help: ArgumentHelp("Whose clock: Europe/Berlin.", valueName: "zone")) var zone = "UTC"
  @Option(help: "The kind of the jobs, such as feed.sync.", completion: .jobKind) var kind: String
  @OptionGroup(title: "Job") var request: JobRequestOptions
  @Option(
    help: ArgumentHelp(
      "The rule for times at which no worker ran: skip, once, all or all:10.",
      valueName: "policy"))
  var missed = "once"
  @Option(help: ArgumentHelp("The largest random delay of each job: 30s.", valueName: "time"))
  var jitter = "0s"
  @Flag(help: "Enqueue a job even if the last one has not ended.") var overlaps = false

  func run() async throws {
    let recurrence = try Recurrence(
      CronExpression(cron), in: Recurrence.zone(named: zone), missed: MissedRuns(missed),
      jitter: JobArguments.duration(jitter, "--jitter"))
    let schedule = JobSchedule(name, recurrence, try request.request(of: kind), overlaps: overlaps)
    let queue = try options.jobsToWrite()
    let isNew = try await queue.setSchedule(schedule)
    try options.warnIfNobodyRuns(kind, in: queue)
    if options.quiet { return }
    let next = try queue.scheduleStatuses().first { $0.name == name }?.nextAt
    Message.say(
      (isNew ? "the schedule \(name) is set" : "the schedule \(name) was changed")
        + (next.map { "; it enqueues a job at \(JobText().time($0))" }
          ?? "; the expression has no later time")
    )
  }
}

struct JobsUnschedule: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unschedule", abstract: "Removes a schedule. The jobs that it has enqueued stay.",
    discussion: """
      mooring jobs unschedule nightly
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The schedule's name.", completion: .schedule) var name: String

  func run() async throws {
    try await options.jobsToWrite().removeSchedule(name)
    if !options.quiet { Message.say("the schedule \(name) is removed") }
  }
}
