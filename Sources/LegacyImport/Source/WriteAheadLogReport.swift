package struct WriteAheadLogReport: Hashable, Sendable {
  package let bytes: Int64
  package let fingerprint: String
  /// Places for frames in the file, a torn last one included.
  package let frames: Int
  /// Frames from the first on whose salts and checksums hold.
  package let validFrames: Int
  /// Frames up to the last commit: those that count.
  package let committedFrames: Int
  /// Pages of the database after the last commit.
  package let pages: UInt32?
}

package struct JournalReport: Hashable, Sendable {
  package let bytes: Int64
  /// Whether a transaction was under way whose changes the copy rolls back.
  package let isHot: Bool
}
