/// The bounds of these jobs, each with its reason.
enum Limits {
  /// How often it is noted with the job that it gets on: each time is a commit.
  static let checkpointInterval = Duration.seconds(2)
  /// How long a job steps back when somebody else does the same just now.
  static let busyWait = Duration.seconds(5)
  /// Items that were refused, and problems, that a report lists.
  static let problemsListedMax = 20
  /// What the queue takes as a key.
  static let keyBytesMax = 200
  /// Items of a file that are read in one go, on a thread for files.
  static let itemsAtOnce = 256
  /// Records of one page: read on one snapshot, which is then let go.
  static let pageRecords = 500
  /// Of a request whose rows cannot be read in pages: groups, distinct rows.
  static let snapshotMax = Duration.seconds(60)
  /// What a durable fetch keeps in the store, as long as the job. More belongs into a file.
  static let keptRowsMax = 100_000
  static let keptBytesMax = 8 << 20
}
