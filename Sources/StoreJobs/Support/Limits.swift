import EntityStore

/// The bounds of these jobs, each with its reason.
enum Limits {
  /// The shortest time between two checkpoints of a job. Each checkpoint is a commit.
  static let checkpointInterval = Duration.seconds(2)
  /// The wait of a job before it tries again what another process is doing.
  static let busyWait = Duration.seconds(5)
  /// The number of refused items, or of problems, that a report lists.
  static let problemsListedMax = 20
  /// The length of a unique key that the queue accepts.
  static let keyBytesMax = 200
  /// The number of items of a file that are read at once, on a thread for files.
  static let itemsAtOnce = 256
  /// The number of records of one page, which is read on one snapshot.
  static let pageRecords = 500
  /// The longest time for which a snapshot is held for a request that cannot be read in pages:
  /// groups, distinct rows.
  static let snapshotMax = Duration.seconds(60)
  /// The number of rows that a durable fetch stores with its job. More rows belong in a file.
  static let outputRowsMax = 100_000
  /// The size of these rows as JSON.
  static let outputBytesMax = 8 << 20
}

enum PathKey {
  /// Returns a unique key for a path of any length: the path itself, or its hash if it is too long.
  static func of(_ path: String) -> String {
    guard path.utf8.count > Limits.keyBytesMax else { return path }
    return "hash " + String(UInt64(bitPattern: ContentHash.of(path)), radix: 16)
  }
}
