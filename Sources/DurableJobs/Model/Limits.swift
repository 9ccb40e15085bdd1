/// The bounds of the jobs, each with its reason.
enum Limits {
  /// A payload is read whenever its job moves; what is larger belongs into a record or a file.
  static let payloadBytesMax = 1 << 20
  /// A key of a limit or of uniqueness must fit into an index key uncut.
  static let keyBytesMax = 200
  /// Of an error, a note: it is to be read by a person, and is written with each attempt.
  static let textBytesMax = 2_000
  /// Attempts of one job that are kept; the oldest go first.
  static let attemptsKeptMax = 25
  /// Jobs that one transaction makes ready because their time has come, holds back because of their
  /// limit, or removes: it must not keep other writers waiting.
  static let movesPerTransactionMax = 512
  /// Schedules that make jobs in one transaction, for the same reason.
  static let schedulesPerTransactionMax = 32
  /// Lanes that are looked at under one limit.
  static let lanesOfLimitMax = 64
  /// How far ahead a job can be put off, in seconds: later is a mistake in a unit.
  static let delayMax = 10 * 366 * 86_400.0
  /// How long the figures of a minute are kept.
  static let figuresKeptMinutes: Int64 = 7 * 24 * 60
  /// How often progress is stored, at most: each time is a commit.
  static let progressInterval = Duration.milliseconds(500)
  /// How often a busy runner reads whether one of its jobs was cancelled.
  static let cancellationsInterval = Duration.milliseconds(100)
  /// How often a runner looks whether the others are alive, while there are others.
  static let othersInterval = Duration.seconds(1)
  /// How often a runner that cannot write tries again.
  static let retryInterval = Duration.seconds(2)
  /// Findings of a check that are listed; the others are counted.
  static let problemsListedMax = 100
}
