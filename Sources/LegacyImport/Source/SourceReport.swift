/// The result of examining a legacy file.
package struct SourceReport: Hashable, Sendable {
  /// The path of the file, with symbolic links resolved.
  package let source: String
  package let bytes: Int64
  /// The XXH3-128 hash, in hexadecimal, of the main file and, if they exist, its `-wal` and its
  /// `-journal`. It distinguishes states of the file and does not protect against forgery.
  package let fingerprint: String
  /// The header; `nil` for an empty file, which is a valid empty database, and for a damaged
  /// header.
  package let header: DatabaseHeader?
  /// The log; `nil` if there is no `-wal` beside the file.
  package var writeAheadLog: WriteAheadLogReport?
  /// The journal; `nil` if there is no `-journal`, or an empty one.
  package var journal: JournalReport?
  /// The findings of SQLite's quick check, at most ten lines. Set by ``SourceDatabase``.
  package var findings: [String] = []
  /// Facts that are normal and good to know, each on one line.
  package var notes: [String]
  /// Problems that may have cost rows, each on one line.
  package var warnings: [String]
}

package struct WriteAheadLogReport: Hashable, Sendable {
  /// The number of frames in the file, including an incomplete last one.
  package let frames: Int
  /// The number of frames from the first one on whose salts and checksums are right.
  package let validFrames: Int
  /// The number of frames up to the last commit, which are read.
  package let committedFrames: Int
}

package struct JournalReport: Hashable, Sendable {
  /// True if a transaction was under way, whose changes are rolled back in the copy.
  package let isHot: Bool
}
