public import Foundation
public import StoreFigures

/// The change history and its consumers.
public struct HistoryStatus: Codable, Sendable {
  public struct Consumer: Codable, Sendable {
    public let name: String
    public let unread: Int64
    public let updatedAt: Date
    /// True if it has missed transactions, and must begin again.
    public let isExpired: Bool
  }

  public let transactions: Int64
  public let consumers: [Consumer]
}

public struct MigrationsStatus: Codable, Sendable {
  public struct UnderWay: Codable, Sendable {
    public let line: String
    public let name: String
    public let step: Int
    public let steps: Int?
    public let text: String?
    public let since: Date
    public let lastError: String?
  }

  public let applied: Int
  /// The migrations of this program that the store lacks.
  public let pending: [String]
  public let underWay: UnderWay?
  /// The process that migrates the store now.
  public let holder: String?
}

public struct BackupStatus: Codable, Sendable {
  public let path: String
  public let madeAt: Date
  public let bytes: Int
  /// True if the folder is there.
  public let exists: Bool
  /// The last time that the copy was read in full: when it was made, or at a later check.
  public let verifiedAt: Date
  /// False if the last check has found problems.
  public let isSound: Bool
}

/// The figures of the last two days by hours, and of the last ninety days.
public struct TrendStatus: Codable, Sendable {
  public let hours: [FigureSlot]
  public let days: [FigureSlot]
}

/// Fetches that took longer than the worker's setting `slowFetch`, and indexes that can be dropped.
public struct FetchesStatus: Codable, Sendable {
  /// The fetches that took the most time together come first.
  public let slow: [SlowFetch]
  public let droppable: [IndexAdvice]
}

/// The result of the last `mooring check`.
public struct CheckStatus: Codable, Sendable {
  public let at: Date
  public let problems: Int
}

/// The place of a store in its hub, as this machine knows it without asking the hub.
public struct HubStatus: Codable, Sendable {
  public let name: String
  public let machine: String
  /// The newest entry of the hub's log that is in the store.
  public let entry: UInt64
}

/// An action that somebody has taken on the page.
public struct ActionStatus: Codable, Sendable, Hashable {
  public let at: Date
  public let author: String
  /// `retry job`, `sync feed`.
  public let action: String
  public let target: String
  /// The result in words, or the error.
  public let outcome: String
}
