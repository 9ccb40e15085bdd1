/// The stored name of a kind of jobs, such as `feed.sync`. It outlives the Swift type.
public struct JobKind: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible,
  ExpressibleByStringLiteral
{
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }
  public init(stringLiteral value: String) { rawValue = value }

  public var description: String { rawValue }
  public static func < (a: JobKind, b: JobKind) -> Bool { a.rawValue < b.rawValue }
}

/// The name of a queue. A queue exists as soon as a job names it.
public struct QueueName: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible,
  ExpressibleByStringLiteral
{
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }
  public init(stringLiteral value: String) { rawValue = value }

  public static let `default`: QueueName = "default"

  /// The name of the only machine that serves the queue, which follows an `@`; `nil` for a queue
  /// that all machines serve.
  public var machine: String? {
    machineMark.map { String(rawValue[rawValue.utf8.index(after: $0)...]) }
  }

  /// The name without that of a machine. Limits and pauses apply to it.
  public var shared: QueueName {
    machineMark.map { QueueName(rawValue: String(rawValue[..<$0])) } ?? self
  }

  private var machineMark: String.Index? { rawValue.utf8.firstIndex(of: UInt8(ascii: "@")) }

  public var description: String { rawValue }
  public static func < (a: QueueName, b: QueueName) -> Bool { a.rawValue < b.rawValue }
}

/// The number of a job. No two jobs of a store ever get the same number.
public struct JobID: RawRepresentable, Hashable, Sendable, Comparable, Codable,
  CustomStringConvertible
{
  public let rawValue: Int64

  public init(rawValue: Int64) { self.rawValue = rawValue }

  public var description: String { String(rawValue) }
  public static func < (a: JobID, b: JobID) -> Bool { a.rawValue < b.rawValue }
}

/// The number of a group of jobs.
public struct JobGroupID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }
  public var description: String { String(rawValue) }
}

package enum JobName {
  /// True for 1 to 64 letters, digits, dots, dashes and underscores: names are joined with a slash
  /// in lanes, and are part of file names and metrics.
  package static func isValid(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { (1...64).contains($0.count) && $0.allSatisfy(isPartOfName) }
  }

  private static func isPartOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
