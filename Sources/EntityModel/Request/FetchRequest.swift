/// A fetch of one entity's records. The predicate is applied first, then the grouping, the sort,
/// and at last offset and limit.
///
/// It has the structure of Core Data's fetch request, but without its types: everything has a name,
/// so that a request can be stored in a template, sent to a job, or given on a command line.
public struct FetchRequest: Codable, Hashable, Sendable {
  public var entityName: String
  /// The condition for the records; `nil` for all.
  public var predicate: FetchPredicate?
  /// The sort keys. Records with equal keys, and all records if there are no keys, come in the
  /// order of their record ids. Rows of groups are sorted by the names of their columns, and
  /// without a sort key by the group keys.
  public var sortBy: [SortKey]
  /// The greatest number of records, at least 1; `nil` for no limit.
  public var fetchLimit: Int?
  public var fetchOffset: Int
  /// The kind of result that `execute(_:)` returns.
  public var resultType = ResultType.entities
  /// The columns of result rows. Empty for all attributes, or, for groups, the group keys.
  public var propertiesToFetch: [FetchProperty] = []
  /// The paths that rows are grouped by: there is one row for each distinct combination of their
  /// values, and null is a value here. They may pass through to-one relationships only.
  public var propertiesToGroupBy: [String] = []
  /// The condition for the groups, on the names of columns, the group keys, and aggregates.
  public var havingPredicate: FetchPredicate?
  /// Leaves out result rows that equal an earlier one, before offset and limit are applied.
  public var returnsDistinctResults = false
  /// The number of records that a fetch in batches reads at a time, at least 1; `nil` for the
  /// store's default.
  public var fetchBatchSize: Int?
  /// The to-one and to-many relationships whose records are read together with the fetched ones.
  public var relationshipKeyPathsForPrefetching: [String] = []
  /// True if the fetch of a draft includes the draft's unsaved changes. Otherwise the predicate is
  /// applied to the records of the store, and the results have the draft's values. Without effect
  /// outside of a draft.
  public var includesPendingChanges = true
  /// Refuses a fetch that no index narrows or sorts, instead of scanning or sorting.
  public var requiresIndex: Bool

  /// The kinds of results, Core Data's result types.
  public enum ResultType: String, Codable, Hashable, Sendable, CaseIterable {
    case entities, count, rows, identifiers
  }

  public init(
    entityName: String, predicate: FetchPredicate? = nil, sortBy: [SortKey] = [],
    fetchLimit: Int? = nil, fetchOffset: Int = 0, requiresIndex: Bool = false
  ) {
    self.entityName = entityName
    self.predicate = predicate
    self.sortBy = sortBy
    self.fetchLimit = fetchLimit
    self.fetchOffset = fetchOffset
    self.requiresIndex = requiresIndex
  }

  /// Hashes what most requests differ in.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(entityName)
    hasher.combine(predicate)
    hasher.combine(sortBy)
    hasher.combine(fetchLimit)
    hasher.combine(fetchOffset)
  }

  private enum CodingKeys: String, CodingKey {
    case entityName, predicate, sortBy, fetchLimit, fetchOffset, resultType, propertiesToFetch
    case propertiesToGroupBy, havingPredicate, returnsDistinctResults, fetchBatchSize
    case relationshipKeyPathsForPrefetching, includesPendingChanges, requiresIndex
  }

  /// Reads a request. Only the entity's name is required; any other missing member has the default
  /// of `init`. A limit or a batch size of 0 is none.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func value<T: Decodable>(_ key: CodingKeys, _ otherwise: T) throws -> T {
      try container.decodeIfPresent(T.self, forKey: key) ?? otherwise
    }
    entityName = try container.decode(String.self, forKey: .entityName)
    predicate = try container.decodeIfPresent(FetchPredicate.self, forKey: .predicate)
    sortBy = try value(.sortBy, [])
    fetchLimit = try value(.fetchLimit, 0).unlessZero
    fetchOffset = try value(.fetchOffset, 0)
    resultType = try value(.resultType, .entities)
    propertiesToFetch = try value(.propertiesToFetch, [])
    propertiesToGroupBy = try value(.propertiesToGroupBy, [])
    havingPredicate = try container.decodeIfPresent(FetchPredicate.self, forKey: .havingPredicate)
    returnsDistinctResults = try value(.returnsDistinctResults, false)
    fetchBatchSize = try value(.fetchBatchSize, 0).unlessZero
    relationshipKeyPathsForPrefetching = try value(.relationshipKeyPathsForPrefetching, [])
    includesPendingChanges = try value(.includesPendingChanges, true)
    requiresIndex = try value(.requiresIndex, false)
  }

  /// Writes all members, except for predicates that are `nil`. No limit and no batch size are 0.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(entityName, forKey: .entityName)
    try container.encodeIfPresent(predicate, forKey: .predicate)
    try container.encode(sortBy, forKey: .sortBy)
    try container.encode(fetchLimit ?? 0, forKey: .fetchLimit)
    try container.encode(fetchOffset, forKey: .fetchOffset)
    try container.encode(resultType, forKey: .resultType)
    try container.encode(propertiesToFetch, forKey: .propertiesToFetch)
    try container.encode(propertiesToGroupBy, forKey: .propertiesToGroupBy)
    try container.encodeIfPresent(havingPredicate, forKey: .havingPredicate)
    try container.encode(returnsDistinctResults, forKey: .returnsDistinctResults)
    try container.encode(fetchBatchSize ?? 0, forKey: .fetchBatchSize)
    try container.encode(
      relationshipKeyPathsForPrefetching, forKey: .relationshipKeyPathsForPrefetching)
    try container.encode(includesPendingChanges, forKey: .includesPendingChanges)
    try container.encode(requiresIndex, forKey: .requiresIndex)
  }

  /// A request for all records of an entity that the catalog describes.
  public init(entity: EntityDescription) { self.init(entityName: entity.name) }

  /// True if one row stands for many records.
  public var isGrouped: Bool {
    !propertiesToGroupBy.isEmpty || propertiesToFetch.contains { $0.expression.hasAggregate }
  }
}

extension Int {
  /// The number; `nil` for 0, which stands for no limit in JSON and in migration files.
  package var unlessZero: Int? { self == 0 ? nil : self }
}

/// A column of result rows.
public struct FetchProperty: Codable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name of the column in the row, and in `havingPredicate` and `sortBy` of groups.
  public var name: String
  public var expression: FetchExpression

  public init(_ name: String, _ expression: FetchExpression) {
    self.name = name
    self.expression = expression
  }

  /// Creates a column with the value of a path, under the path's name.
  public init(stringLiteral path: String) { self.init(path, .path(path)) }

  /// Returns a column with the value at a key path.
  public static func path(_ path: String) -> FetchProperty { .init(path, .path(path)) }

  /// Returns a column with the sum of the values at a key path.
  public static func sum(_ path: String, as name: String) -> FetchProperty {
    .init(name, .aggregate(.sum, .path(path)))
  }
  /// Returns a column with the mean of the values at a key path.
  public static func average(_ path: String, as name: String) -> FetchProperty {
    .init(name, .aggregate(.average, .path(path)))
  }
  /// Returns a column with the least of the values at a key path.
  public static func minimum(_ path: String, as name: String) -> FetchProperty {
    .init(name, .aggregate(.minimum, .path(path)))
  }
  /// Returns a column with the greatest of the values at a key path.
  public static func maximum(_ path: String, as name: String) -> FetchProperty {
    .init(name, .aggregate(.maximum, .path(path)))
  }
  /// Counts all rows, or those in which the path is not null.
  public static func count(_ path: String? = nil, as name: String) -> FetchProperty {
    .init(name, .aggregate(.count, path.map(FetchExpression.path)))
  }
  /// Returns a column with the number of distinct values at a key path.
  public static func countDistinct(_ path: String, as name: String) -> FetchProperty {
    .init(name, .aggregate(.countDistinct, .path(path)))
  }
}

extension FetchExpression {
  /// True if the column has a value only for many rows together.
  public var hasAggregate: Bool {
    if case .aggregate = self { return true }
    return parts.contains(where: \.hasAggregate)
  }
}
