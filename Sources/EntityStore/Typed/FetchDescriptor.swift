public import EntityModel
public import Foundation

/// A typed fetch, with the names of SwiftData. It is converted to a `FetchRequest` for the planner.
///
/// ```swift
/// let soon = try FetchDescriptor(
///   predicate: #Predicate<Episode> { $0.watchLaterAt != nil && $0.progress < 0.9 },
///   sortBy: [SortDescriptor(\.watchLaterAt, order: .reverse)], fetchLimit: 20)
/// ```
public struct FetchDescriptor<T: Entity>: Sendable {
  /// The condition; `nil` means every record.
  public var predicate: FetchPredicate?
  /// The sort keys. Records that are equal in all of them, or all records if there are none, are in
  /// order of record id.
  public var sortBy: [SortBy<T>]
  /// The largest number of records; `nil` is no limit, and 0 fetches nothing, as in SwiftData.
  public var fetchLimit: Int?
  public var fetchOffset: Int
  /// The columns of `fetchRows(_:)`; empty means all attributes. `fetch(_:)` ignores it and reads
  /// the attributes of the type.
  public var propertiesToFetch: [any PartialKeyPath<T> & Sendable] = []
  /// The relationships whose records are also read, into `ToOne.value` and `ToMany.values`.
  public var relationshipKeyPathsForPrefetching: [any PartialKeyPath<T> & Sendable] = []
  /// The number of records that a fetch in batches reads at a time, at least 1; `nil` is the
  /// store's default.
  public var fetchBatchSize: Int?
  /// True if the fetch of a draft includes the draft's unsaved changes. Other fetches ignore it.
  public var includePendingChanges = true
  /// True if the fetch throws where no index narrows it or gives its order, instead of scanning or
  /// sorting.
  public var requiresIndex = false

  @inlinable
  public init(
    predicate: FetchPredicate? = nil, sortBy: [SortBy<T>] = [], fetchLimit: Int? = nil,
    fetchOffset: Int = 0
  ) {
    self.predicate = predicate
    self.sortBy = sortBy
    self.fetchLimit = fetchLimit
    self.fetchOffset = fetchOffset
  }

  /// Creates a descriptor with sort keys of Foundation's types.
  @inlinable
  public init<S: SortKeyConvertible>(
    predicate: FetchPredicate? = nil, sortBy: [S], fetchLimit: Int? = nil, fetchOffset: Int = 0
  ) where S.Compared == T {
    self.init(
      predicate: predicate, sortBy: sortBy.map { $0.sortBy() }, fetchLimit: fetchLimit,
      fetchOffset: fetchOffset)
  }

  /// Creates a descriptor with a `#Predicate`.
  ///
  /// - Throws: `invalidRequest` for a part that has no meaning in a fetch; see
  ///   `FetchPredicate.init(_:)`.
  public init(
    predicate: Predicate<T>, sortBy: [SortBy<T>] = [], fetchLimit: Int? = nil, fetchOffset: Int = 0
  ) throws {
    self.init(
      predicate: try FetchPredicate(predicate), sortBy: sortBy, fetchLimit: fetchLimit,
      fetchOffset: fetchOffset)
  }

  /// Creates a descriptor with a `#Predicate` and sort keys of Foundation's types.
  ///
  /// - Throws: `invalidRequest` for a part that has no meaning in a fetch; see
  ///   `FetchPredicate.init(_:)`.
  public init<S: SortKeyConvertible>(
    predicate: Predicate<T>, sortBy: [S], fetchLimit: Int? = nil, fetchOffset: Int = 0
  ) throws where S.Compared == T {
    try self.init(
      predicate: predicate, sortBy: sortBy.map { $0.sortBy() }, fetchLimit: fetchLimit,
      fetchOffset: fetchOffset)
  }

  /// The same fetch by names alone, which can be stored and sent.
  ///
  /// - Throws: `invalidRequest` for a key path that names no attribute or relationship.
  // Inlinable, like what reads a value: generic code that knows its types asks for no metadata.
  @inlinable
  public func request() throws -> FetchRequest {
    var request = FetchRequest(
      entityName: T.entityName, predicate: predicate, sortBy: try sortBy.map { try $0.key() },
      fetchLimit: fetchLimit == 0 ? nil : fetchLimit, fetchOffset: fetchOffset,
      requiresIndex: requiresIndex)
    if fetchLimit == 0 {
      // A request has no limit of 0, so a predicate that is always false is added. The given
      // predicate stays, so that the same index is used.
      let nothing = FetchPredicate.always(false)
      request.predicate = predicate.map { $0 && nothing } ?? nothing
    }
    request.fetchBatchSize = fetchBatchSize
    request.includesPendingChanges = includePendingChanges
    for keyPath in propertiesToFetch {
      request.propertiesToFetch.append(.path(try T.propertyName(of: keyPath)))
    }
    for keyPath in relationshipKeyPathsForPrefetching {
      request.relationshipKeyPathsForPrefetching.append(try T.propertyName(of: keyPath))
    }
    return request
  }
}

extension Entity {
  /// A request for all records of this entity, to be narrowed: Core Data's way.
  ///
  /// ```swift
  /// var request = Venue.fetchRequest()
  /// request.predicate = try FetchPredicate(format: "priceCategory == %@", "$$")
  /// let venues = try store.fetch(request, as: Venue.self)
  /// ```
  public static func fetchRequest() -> FetchRequest { FetchRequest(entityName: entityName) }
}

/// The key path of a property is an argument for its attribute or relationship: `%K` takes `
/// Episode.watchedAt`.
extension PartialKeyPath: PredicateArgument where Root: Entity {
  public func predicateExpression() throws -> FetchExpression {
    .path(try Root.propertyName(of: self))
  }
}
