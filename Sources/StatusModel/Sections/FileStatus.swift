/// The file of a store.
public struct FileStatus: Codable, Sendable {
  public let bytes: Int
  /// The bytes of the pages that are in use.
  public let usedBytes: Int
  public let freePages: Int
  public let pageBytes: Int
  /// How large the file may grow.
  public let mapBytes: Int
  /// The free bytes of its volume for this user; nil if the system does not report them.
  public let volumeFreeBytes: Int?
  /// The bytes that the worker leaves free on the volume.
  public let reserveBytes: Int64
  public let trees: [TreeStatus]
  /// The entities, in the order of their names, without those of Mooring itself.
  public let entities: [EntityStatus]
  public let oldestReader: ReaderStatus?
  /// The bytes in use a day and a week ago; nil if they were not recorded.
  public let usedBytesADayAgo: Int?
  public let usedBytesAWeekAgo: Int?

  /// The part of the map that is in use, from 0 to 1.
  public var mapShare: Double { mapBytes > 0 ? Double(bytes) / Double(mapBytes) : 0 }
}

public struct TreeStatus: Codable, Sendable {
  public let name: String
  /// The content in words: `records of Episode`, `index byType of Episode`.
  public let content: String
  public let entries: Int
  public let bytes: Int
}

public struct EntityStatus: Codable, Sendable {
  public let name: String
  public let records: Int
}

/// The process with the oldest snapshot. The file grows while it is open and others write.
public struct ReaderStatus: Codable, Sendable {
  public let process: Int32
  /// The command line; empty if it is not known.
  public let command: String
  /// The transactions since its snapshot.
  public let age: Int
}
