/// The bounds of an import, each with its reason.
package enum Limits {
  /// A cell that is longer is never read whole: no record could hold it (`EntityStore.Limits`).
  package static let cellBytesMax = 15 << 20
  /// What a model or an archive in the file may inflate to: a bomb of 300 KB makes 300 MB.
  package static let inflatedBytesMax = 32 << 20
  /// How long a lock of another program is waited for.
  package static let lockWait = Duration.seconds(5)
  /// Copies of a file that changes meanwhile before it is given up.
  package static let copyAttemptsMax = 5
  /// A value in the row of a reject.
  package static let excerptBytesMax = 1_024
  /// Rows, and bytes of their cells, that are read ahead of the transaction that writes them.
  package static let chunkRowsMax = 2_000
  package static let chunkBytesMax = 4 << 20
  /// Keys that several rows of a table share: with more of them it is no key.
  package static let repeatedKeysMax = 100_000
  /// Links of one record, which are written in one transaction.
  package static let listMax = 1_000_000
  /// Rows that a report names one by one.
  package static let rowsNamedMax = 20
  /// One step of SQLite, a sort among them: the schema of a hostile file can make it endless.
  package static let stepTimeMax = Duration.seconds(600)
  /// SQLite's quick check, which reads the whole file.
  package static let checkTimeMax = Duration.seconds(10)
  /// Unreadable ranges of a table before the rest of it is given up; each costs a few hundred seeks.
  package static let unreadableRangesMax = 10_000
}
