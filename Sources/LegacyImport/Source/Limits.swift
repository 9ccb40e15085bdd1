/// The bounds of an import, each with its reason.
package enum Limits {
  /// The greatest length of a cell that is read completely: no record could hold a longer one
  /// (`StoreLimits`).
  package static let cellBytesMax = 15 << 20
  /// The greatest inflated size of a model or an archive: 300 KB may inflate to 300 MB.
  package static let inflatedBytesMax = 32 << 20
  /// The time for which a lock of another program is awaited.
  package static let lockWait = Duration.seconds(5)
  /// The number of attempts to copy a file that changes during the copy.
  package static let copyAttemptsMax = 5
  /// The greatest length of a value in the row of a reject.
  package static let excerptBytesMax = 1_024
  /// The rows of a chunk, and the bytes of their cells, that are read ahead of the transaction that
  /// writes them.
  package static let chunkRowsMax = 2_000
  package static let chunkBytesMax = 4 << 20
  /// The rows that lead to others, with their keys only, that are read between two transactions.
  /// The source has one connection, which a transaction uses for rows that are missing.
  package static let linkRowsMax = 10_000
  /// The number of keys that several rows of a table may share.
  package static let repeatedKeysMax = 100_000
  /// The number of links of one record, which are written in one transaction.
  package static let listMax = 1_000_000
  /// A run that prunes does not delete more than this number of records that are more than this
  /// share, unless it is allowed: the file may have been cut or replaced.
  package static let prunedCountMin = 20
  package static let prunedShareMax = 0.5
  /// The number of rows that a report names one by one.
  package static let rowsNamedMax = 20
  /// The time of one step of SQLite, such as a sort: the schema of a hostile file can make it
  /// endless.
  package static let stepTimeMax = Duration.seconds(600)
  /// The time of SQLite's quick check, which reads the whole file.
  package static let checkTimeMax = Duration.seconds(10)
}
