/// The bounds of a sync, each with its reason.
public enum SyncLimits {
  /// The decoded bytes of a page, which is held in memory.
  public static let pageBytesMax = 32 << 20
  /// The pages of a run. A feed that does not end is an error, not a full disk.
  static let pagesPerRunMax = 10_000
  static let itemsPerRunMax = 2_000_000
  /// The items of a commit: pages are collected until they have so many.
  static let itemsPerCommit = 1_000
  /// The feeds that one commit adds: few, so that other writers do not wait long.
  static let feedsPerCommit = 250
  /// The age in seconds up to which an interrupted run is resumed. The listing changes later.
  static let resumeAgeMax = 3_600.0
  /// How often a run begins again, from its checkpoint, because another process has changed the
  /// schema. Each step of a migration does that twice at most.
  static let restartsMax = 20
  /// The age in seconds up to which validators are sent. A server may answer 304 for ever.
  static let validatorsAgeMax = 8 * 86_400.0
  /// The bounds, in seconds, of the time for which an answer stays fresh. Less would load the
  /// server, more would let a wrong header hide changes.
  static let freshMin: Int64 = 15 * 60
  static let freshMax: Int64 = 86_400
  /// The lower bound for homefeed/1.
  static let ownFreshMin: Int64 = 60
  /// The longest wait in seconds that a server can request.
  public static let waitMax = 7 * 86_400.0
  /// The wait in seconds after a 429 that names none.
  static let hostWait = 10 * 60.0
  /// The seconds by which a last run may be in the future before the waits that were stored with it
  /// are ignored. Without a battery, the clock of a machine is late until it has a network.
  static let clockErrorMax = 3_600.0
  /// The waits in seconds after failures: a minute, doubled with each failure, up to these.
  static let failureWaitMin = 60.0
  static let failureWaitMax = 86_400.0
  static let missingWaitMax = 7 * 86_400.0
  /// The number of equal permanent redirects, and the seconds between the first and the last, after
  /// which the feed's URL changes. A captive portal sends them too.
  static let movesMin: Int64 = 10
  static let movedAgeMin = 3 * 86_400.0
  /// The failures in a row after which a redirect's URL is dropped again.
  static let learnedErrorsMax: Int64 = 5
  /// The Unicode scalars of a title or an example that are stored, and of a text that are read for
  /// it. A document may have a title of a megabyte.
  static let textLengthMax = 200
  static let textReadMax = 2_000
  /// The runs that are stored of each feed.
  static let runsKept = 20
  /// The seconds between full runs, which repair what deltas missed.
  static let fullRunAgeMax = 30 * 86_400.0
  /// The share and number of rejected items at which a run fails.
  static let rejectedShareMax = 0.2
  static let rejectedCountMin = 5
  /// The share and number of a feed's records above which a full run refuses to delete them.
  static let deletedShareMax = 0.5
  static let deletedCountMin = 20
  /// The seconds from now to which a later `updatedAt` is reduced. Otherwise an item with a wrong
  /// clock would be first in the list for years.
  static let futureMax = 86_400.0
}
