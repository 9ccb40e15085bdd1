public import Foundation

/// How often fetches have used an index.
public struct IndexUse: Codable, Equatable, Sendable {
  public let entity: String
  public let index: String
  /// The fetches since ``since``.
  public let uses: Int64
  public let since: Date
  /// The minute of the last use; `nil` if there was none.
  public let lastUsedAt: Date?
}
