/// The bounds of a sync, each with its reason.
public enum Limits {
  /// Decoded bytes of one page: a page is held in memory.
  public static let pageBytesMax = 32 << 20
  /// Pages of one run: a feed that never ends is an error, not a full disk.
  static let pagesPerRunMax = 10_000
  static let itemsPerRunMax = 2_000_000
  /// Pages are gathered until they have so many items, then committed together.
  static let itemsPerCommit = 1_000
  /// An interrupted run older than this is not resumed: the server's listing will have moved on.
  static let resumeAgeMax = 3_600.0
  /// Validators older than this are not sent, so that a server stuck on 304 is asked in earnest.
  static let validatorsAgeMax = 8 * 86_400.0
  /// Seconds for which an answer may be taken as good, whatever the server says: less would be a
  /// storm, more would miss what a wrong header hides.
  static let freshMin: Int64 = 15 * 60
  static let freshMax: Int64 = 86_400
  /// For homefeed/1, whose server is ours.
  static let ownFreshMin: Int64 = 60
  /// The longest that a server can ask to wait.
  public static let waitMax = 7 * 86_400.0
  /// How long a host is left alone that says 429 and not for how long.
  static let hostWait = 10 * 60.0
  /// Waits after failures: a minute, doubled with each, up to these.
  static let failureWaitMin = 60.0
  static let failureWaitMax = 86_400.0
  static let missingWaitMax = 7 * 86_400.0
  /// A permanent redirect is believed after so many equal ones over so much time: a captive portal
  /// sends them too.
  static let movesMin: Int64 = 10
  static let movedAgeMin = 3 * 86_400.0
  /// A learned URL that gives no feed so often, without one in between, is forgotten again.
  static let learnedErrorsMax: Int64 = 5
  /// Runs that are remembered of each feed.
  static let runsKept = 20
  /// A delta is followed by a full run at least this often, to heal what deltas missed.
  static let fullRunAgeMax = 30 * 86_400.0
  /// A run that rejects more than this share of its items, and at least this many, fails.
  static let rejectedShareMax = 0.2
  static let rejectedCountMin = 5
  /// A full run refuses to delete more than this share of a feed's records, if it is more than
  /// so many.
  static let deletedShareMax = 0.5
  static let deletedCountMin = 20
  /// An `updatedAt` later than this from now is taken as this, or one wrong clock would head the
  /// list for years.
  static let futureMax = 86_400.0
}
