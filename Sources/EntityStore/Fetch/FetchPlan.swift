import EntityModel

/// How a fetch is answered, in words: what `explain` returns.
public struct FetchPlan: Codable, Hashable, Sendable, CustomStringConvertible {
  public enum Access: Codable, Hashable, Sendable {
    /// Every record of the entity, in order of object id.
    case scan
    /// A range of an index, forward or backward.
    case index(name: String, keys: String, range: String, isReversed: Bool)
  }

  public var entity: String
  public var access: Access
  /// What is checked on the record itself; `nil` if the index range says it all.
  public var filter: String?
  /// Whether all matching records are sorted in memory before the window is taken.
  public var sortsInMemory: Bool
  public var sortBy: String
  public var limit: Int
  public var offset: Int
  /// Why the other indexes were not taken.
  public var rejected: [Rejection]

  public struct Rejection: Codable, Hashable, Sendable {
    public var index: String
    public var reason: String
  }

  public var description: String {
    var lines = ["fetch \(entity)"]
    switch access {
    case .scan: lines.append("  scan every record")
    case .index(let name, let keys, let range, let isReversed):
      lines.append("  index \(name) (\(keys))\(isReversed ? ", backward" : "")")
      lines.append("  range \(range)")
    }
    if let filter { lines.append("  filter \(filter)") }
    if !sortBy.isEmpty {
      lines.append("  sort \(sortBy)\(sortsInMemory ? ", in memory" : ", by the access")")
    }
    if limit > 0 { lines.append("  limit \(limit)") }
    if offset > 0 { lines.append("  offset \(offset)") }
    for rejection in rejected { lines.append("  not \(rejection.index): \(rejection.reason)") }
    return lines.joined(separator: "\n")
  }
}

/// What an answered fetch has touched.
public struct FetchStatistics: Codable, Hashable, Sendable {
  public var entriesRead = 0
  public var recordsRead = 0
  public var rowsReturned = 0

  public init() {}
}
