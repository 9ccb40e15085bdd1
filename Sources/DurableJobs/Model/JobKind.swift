/// The name of a kind of jobs, such as `feed.sync`: it is stored, so it outlives the Swift type.
public struct JobKind: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible,
  ExpressibleByStringLiteral
{
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }
  public init(stringLiteral value: String) { rawValue = value }

  public var description: String { rawValue }
  public static func < (a: JobKind, b: JobKind) -> Bool { a.rawValue < b.rawValue }
}

/// The name of a queue. A queue is there as soon as a job names it.
public struct QueueName: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible,
  ExpressibleByStringLiteral
{
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }
  public init(stringLiteral value: String) { rawValue = value }

  public static let `default`: QueueName = "default"

  public var description: String { rawValue }
  public static func < (a: QueueName, b: QueueName) -> Bool { a.rawValue < b.rawValue }
}

/// The number of a job, which no other job of the store ever gets.
public struct JobID: RawRepresentable, Hashable, Sendable, Comparable, Codable,
  CustomStringConvertible
{
  public let rawValue: Int64

  public init(rawValue: Int64) { self.rawValue = rawValue }

  public var description: String { String(rawValue) }
  public static func < (a: JobID, b: JobID) -> Bool { a.rawValue < b.rawValue }
}

/// The number of a batch of jobs.
public struct JobBatchID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }
  public var description: String { String(rawValue) }
}

enum JobName {
  /// Names stand in lanes with a slash between them, in file names and in metrics.
  static func isValid(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count)
      && name.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
          UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}
