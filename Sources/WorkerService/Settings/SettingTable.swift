import Logging

extension Setting {
  /// All settings, in the order in which they are shown.
  public static let all: [Setting] = [
    concurrency, blockingThreads, queues, syncEvery, jitter, hostSpacing, contact, drainTimeout,
    logLevel, logFormat, metricsFile, metricsEvery, slowFetch, diskReserve, keepFinished,
    pruneEvery,
  ]

  public static let concurrency = Setting(
    "concurrency", \.concurrency, .count(1...256), "Jobs that run at once.")

  // The threads are created once, at the start.
  public static let blockingThreads = Setting(
    "blockingThreads", \.blockingThreads, .count(1...64),
    "Threads for work that blocks.", .restart)

  public static let queues = Setting(
    "queues", \.queues, .limits(1...256, most: 64),
    "The most jobs at once of single queues.")

  public static let syncEvery = Setting(
    "syncEvery", \.syncEvery, .time(.seconds(10)...days(30), such: "15m"),
    "Time between syncs of a feed that has no time of its own.")

  public static let jitter = Setting(
    "jitter", \.jitter, .fraction,
    "How much of an interval is added at random, so that feeds spread out.")

  public static let hostSpacing = Setting(
    "hostSpacing", \.hostSpacing, .time(.zero ... .seconds(600), such: "2s"),
    "Time between requests to one host.")

  // The transport is created once, at the start.
  public static let contact = Setting(
    "contact", \.contact, .optionalContact,
    "The address of the operator for publishers; sent with each request.", .restart)

  public static let drainTimeout = Setting(
    "drainTimeout", \.drainTimeout, .time(.zero ... .seconds(3_600), such: "20s"),
    "How long running jobs may continue after the request to stop.")

  public static let logLevel = Setting(
    "logLevel", \.logLevel, .choice(of: Logger.Level.self, valueName: "level"),
    "What is logged, this level and those above it: trace, debug, info, notice, warning, error "
      + "or critical.")

  public static let logFormat = Setting(
    "logFormat", \.logFormat, .choice(of: LogFormat.self, valueName: "format"),
    "How log lines are written: text or json.")

  public static let metricsFile = Setting(
    "metricsFile", \.metricsFile, .optionalPath(suffix: ".prom"),
    "A textfile for Prometheus, replaced each time.")

  public static let metricsEvery = Setting(
    "metricsEvery", \.metricsEvery, .time(.seconds(1)...(.seconds(3_600)), such: "15s"),
    "Time between writes of the textfile.")

  public static let slowFetch = Setting(
    "slowFetch", \.slowFetch, .time(.milliseconds(1)...(.seconds(3_600)), such: "50ms"),
    "How long a fetch takes that is sampled as slow.")

  public static let diskReserve = Setting(
    "diskReserve", \.diskReserve, .size(0...(1 << 40), such: "64MiB"),
    "What stays free on the store's disk; the worker pauses below.")

  public static let keepFinished = Setting(
    "keepFinished", \.keepFinished, .time(.seconds(60)...days(3_650), such: "7d"),
    "How long finished jobs are kept.")

  public static let pruneEvery = Setting(
    "pruneEvery", \.pruneEvery, .time(.seconds(1)...days(1), such: "10m"),
    "Time between removals of finished jobs.")

  private static func days(_ count: Int64) -> Duration { .seconds(count * 86_400) }
}
