/// What a legacy file is, found out without changing it.
package struct SourceReport: Hashable, Sendable {
  /// Where the file is, symbolic links resolved.
  package let source: String
  package let bytes: Int64
  /// XXH3-128 in hexadecimal of the main file and, if there are, its `-wal` and its `-journal`: tells
  /// states of the file apart, and is no proof against forgery.
  package let fingerprint: String
  /// Nil for an empty file, which is a valid empty database, and for a damaged header.
  package let header: DatabaseHeader?
  /// Nil if there is no `-wal` beside the file.
  package var writeAheadLog: WriteAheadLogReport?
  /// Nil if there is no `-journal`, or nothing in it.
  package var journal: JournalReport?
  /// What SQLite's quick check found, at most ten lines; empty if it found nothing. Set by
  /// ``SourceDatabase``.
  package var findings: [String] = []
  /// Facts that are normal and good to know, each on one line.
  package var notes: [String]
  /// What may have cost rows, each on one line.
  package var warnings: [String]
}
