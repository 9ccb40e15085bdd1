/// A fetch of one entity's records: filter, then sort, then window.
///
/// Core Data's shape, without its types: everything is named by strings, so a request can be
/// stored in a template, sent to a job, or typed on a command line.
public struct FetchRequest: Codable, Hashable, Sendable {
  public var entityName: String
  /// `nil` means every record.
  public var predicate: FetchPredicate?
  /// Empty means in order of object id. Records with equal sort keys come in order of object id.
  public var sortBy: [SortKey]
  /// At most so many records; 0 is no limit.
  public var fetchLimit: Int
  public var fetchOffset: Int
  /// Throw instead of reading every record or sorting in memory.
  public var requiresIndex: Bool

  public init(
    entityName: String, predicate: FetchPredicate? = nil, sortBy: [SortKey] = [],
    fetchLimit: Int = 0, fetchOffset: Int = 0, requiresIndex: Bool = false
  ) {
    self.entityName = entityName
    self.predicate = predicate
    self.sortBy = sortBy
    self.fetchLimit = fetchLimit
    self.fetchOffset = fetchOffset
    self.requiresIndex = requiresIndex
  }
}

/// One sort key. Null comes first ascending and last descending.
public struct SortKey: Codable, Hashable, Sendable, CustomStringConvertible {
  public var attribute: String
  public var isDescending: Bool

  public init(_ attribute: String, descending: Bool = false) {
    self.attribute = attribute
    self.isDescending = descending
  }

  public var description: String { isDescending ? attribute + " desc" : attribute }
}
