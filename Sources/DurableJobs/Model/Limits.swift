/// The bounds of the jobs, each with its reason.
enum Limits {
  /// The size of a payload, which is read whenever its job changes. Larger data belongs in a record
  /// or a file.
  static let payloadBytesMax = 1 << 20
  /// The length of a limit key or a unique key, which must fit into an index key without being cut.
  static let keyBytesMax = 200
  /// The length of an error or a note. It is written with each attempt, and read by people.
  static let textBytesMax = 2_000
  /// The number of attempts that are kept of one job. The oldest are removed first.
  static let attemptsKeptMax = 25
  /// The number of jobs that one transaction makes ready, holds back because of a limit, rescues or
  /// removes, so that other writers wait only a short time.
  static let movesPerTransactionMax = 512
  /// The number of schedules whose jobs one transaction enqueues, for the same reason.
  static let schedulesPerTransactionMax = 32
  /// The number of lanes that compete for one released limit.
  static let lanesOfLimitMax = 64
  /// The longest delay of a job, in seconds. A longer one is probably a mistake in the unit.
  static let delayMax = 10 * 366 * 86_400.0
  /// The time for which the aggregates of a minute are kept.
  static let aggregatesKeptMinutes: Int64 = 7 * 24 * 60
  /// The shortest time between two commits that store progress.
  static let progressInterval = Duration.milliseconds(500)
  /// The shortest time between two reads of the cancellations of running jobs.
  static let cancellationsInterval = Duration.milliseconds(100)
  /// The shortest time between two checks of whether the other runners live, and the time between
  /// two while one of them is on this machine.
  static let runnersInterval = Duration.seconds(1)
  /// The longest sleep of a runner while a job waits for its time, because clocks are set.
  static let clockInterval = Duration.seconds(30)
  /// The seconds by which a schedule's next time must be later than its expression says before it
  /// is corrected. After a smaller step of the clock, as cron(8) does, no time is repeated.
  static let scheduleErrorMax = 3 * 3_600.0
  /// The time after which a runner that could not write tries again.
  static let retryInterval = Duration.seconds(2)
  /// The number of problems that a check lists. The others are counted.
  static let problemsListedMax = 100
}
