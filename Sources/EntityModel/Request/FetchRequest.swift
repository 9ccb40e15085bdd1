/// A fetch of one entity's records: filter, then group, then sort, then window.
///
/// Core Data's shape, without its types: everything is named by strings, so a request can be
/// stored in a template, sent to a job, or typed on a command line.
public struct FetchRequest: Codable, Hashable, Sendable {
  public var entityName: String
  /// `nil` means every record.
  public var predicate: FetchPredicate?
  /// Empty means in order of object id. Records with equal sort keys come in order of object id.
  /// Rows of groups are sorted by the names of their columns; without a key they come in the order
  /// of the group keys.
  public var sortBy: [SortKey]
  /// At most so many records; 0 is no limit.
  public var fetchLimit: Int
  public var fetchOffset: Int
  /// What `execute(_:)` returns.
  public var resultType = ResultType.entities
  /// The columns of result rows. Empty means all attributes, or for groups the group keys.
  public var propertiesToFetch: [FetchProperty] = []
  /// The paths that group rows: one row for each distinct combination of their values, null being
  /// one. May pass to-one relationships only.
  public var propertiesToGroupBy: [String] = []
  /// Which groups are returned: about the names of the columns, the group keys, and aggregates.
  public var havingPredicate: FetchPredicate?
  /// Leaves out result rows that equal an earlier one; the window is taken of what remains.
  public var returnsDistinctResults = false
  /// How many records a lazy result reads at a time; 0 leaves it to the store.
  public var fetchBatchSize = 0
  /// To-one and to-many relationships that are read along with the records.
  public var relationshipKeyPathsForPrefetching: [String] = []
  /// Of a draft's fetch: whether what the draft has changed takes part. If not, the records are
  /// those of the store, with the draft's values. Any other fetch knows no drafts.
  public var includesPendingChanges = true
  /// Throw where no index narrows the fetch or gives its order, instead of scanning or sorting.
  public var requiresIndex: Bool

  /// The kinds of results, Core Data's result types.
  public enum ResultType: String, Codable, Hashable, Sendable, CaseIterable {
    case entities, count, rows, identifiers
  }

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

  /// Only the name of the entity must be there; what is missing is as `init` has it.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func value<T: Decodable>(_ key: CodingKeys, _ otherwise: T) throws -> T {
      try container.decodeIfPresent(T.self, forKey: key) ?? otherwise
    }
    entityName = try container.decode(String.self, forKey: .entityName)
    predicate = try container.decodeIfPresent(FetchPredicate.self, forKey: .predicate)
    sortBy = try value(.sortBy, [])
    fetchLimit = try value(.fetchLimit, 0)
    fetchOffset = try value(.fetchOffset, 0)
    resultType = try value(.resultType, .entities)
    propertiesToFetch = try value(.propertiesToFetch, [])
    propertiesToGroupBy = try value(.propertiesToGroupBy, [])
    havingPredicate = try container.decodeIfPresent(FetchPredicate.self, forKey: .havingPredicate)
    returnsDistinctResults = try value(.returnsDistinctResults, false)
    fetchBatchSize = try value(.fetchBatchSize, 0)
    relationshipKeyPathsForPrefetching = try value(.relationshipKeyPathsForPrefetching, [])
    includesPendingChanges = try value(.includesPendingChanges, true)
    requiresIndex = try value(.requiresIndex, false)
  }

  /// A request for all records of an entity that the catalog describes.
  public init(entity: EntityDescription) { self.init(entityName: entity.name) }

  /// Whether one row stands for many records.
  public var isGrouped: Bool {
    !propertiesToGroupBy.isEmpty || propertiesToFetch.contains { $0.expression.hasAggregate }
  }
}

/// A column of result rows.
public struct FetchProperty: Codable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// What the column is called in the row, and in `havingPredicate` and `sortBy` of groups.
  public var name: String
  public var expression: FetchExpression

  public init(_ name: String, _ expression: FetchExpression) {
    self.name = name
    self.expression = expression
  }

  /// The value of a path, under its own name.
  public init(stringLiteral path: String) { self.init(path, .path(path)) }

  public static func path(_ path: String) -> FetchProperty { .init(path, .path(path)) }

  public static func sum(_ path: String, as name: String) -> FetchProperty {
    .init(name, .aggregate(.sum, .path(path)))
  }
  public static func average(_ path: String, as name: String) -> FetchProperty {
    .init(name, .aggregate(.average, .path(path)))
  }
  public static func minimum(_ path: String, as name: String) -> FetchProperty {
    .init(name, .aggregate(.minimum, .path(path)))
  }
  public static func maximum(_ path: String, as name: String) -> FetchProperty {
    .init(name, .aggregate(.maximum, .path(path)))
  }
  /// Of all rows, or of those where the path is not null.
  public static func count(_ path: String? = nil, as name: String) -> FetchProperty {
    .init(name, .aggregate(.count, path.map(FetchExpression.path)))
  }
  public static func countDistinct(_ path: String, as name: String) -> FetchProperty {
    .init(name, .aggregate(.countDistinct, .path(path)))
  }
}

extension FetchExpression {
  /// Whether it has a value only for many rows together.
  public var hasAggregate: Bool {
    switch self {
    case .aggregate: true
    case .arithmetic(_, let left, let right): left.hasAggregate || right.hasAggregate
    case .negative(let part): part.hasAggregate
    case .list(let parts): parts.contains(where: \.hasAggregate)
    case .value, .object, .path, .itself, .variable, .collection: false
    }
  }
}
