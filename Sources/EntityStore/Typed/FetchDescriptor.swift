public import EntityModel
public import Foundation

/// A typed fetch: SwiftData's names. It becomes a `FetchRequest`, which the planner knows.
///
/// ```swift
/// let soon = try FetchDescriptor(
///   predicate: #Predicate<Episode> { $0.watchLaterAt != nil && $0.progress < 0.9 },
///   sortBy: [SortDescriptor(\.watchLaterAt, order: .reverse)], fetchLimit: 20)
/// ```
public struct FetchDescriptor<T: Entity>: Sendable {
  /// `nil` means every record.
  public var predicate: FetchPredicate?
  /// Empty means in order of object id; ties are in order of object id.
  public var sortBy: [SortBy<T>]
  /// `nil` is no limit; 0 is none, as in SwiftData.
  public var fetchLimit: Int?
  public var fetchOffset: Int
  /// The columns of `fetchRows(_:)`; empty means all attributes. A `fetch(_:)` reads what the type
  /// reads.
  public var propertiesToFetch: [any PartialKeyPath<T> & Sendable] = []
  /// The relationships whose records are read along, into `ToOne.value` and `ToMany.values`.
  public var relationshipKeyPathsForPrefetching: [any PartialKeyPath<T> & Sendable] = []
  /// How many records a lazy result reads at a time; 0 leaves it to the store.
  public var fetchBatchSize = 0
  /// Of a draft's fetch: whether what the draft has changed takes part.
  public var includePendingChanges = true
  /// Throw where no index narrows the fetch or gives its order, instead of scanning or sorting.
  public var requiresIndex = false

  public init(
    predicate: FetchPredicate? = nil, sortBy: [SortBy<T>] = [], fetchLimit: Int? = nil,
    fetchOffset: Int = 0
  ) {
    self.predicate = predicate
    self.sortBy = sortBy
    self.fetchLimit = fetchLimit
    self.fetchOffset = fetchOffset
  }

  /// With sort keys of Foundation's kinds.
  @inlinable
  public init<S: SortKeyConvertible>(
    predicate: FetchPredicate? = nil, sortBy: [S], fetchLimit: Int? = nil, fetchOffset: Int = 0
  ) where S.Compared == T {
    self.init(
      predicate: predicate, sortBy: sortBy.map { $0.sortBy() }, fetchLimit: fetchLimit,
      fetchOffset: fetchOffset)
  }

  /// With a `#Predicate`.
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

  /// With a `#Predicate` and sort keys of Foundation's kinds.
  ///
  /// - Throws: As the one above.
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
      entityName: T.entityName, predicate: predicate, fetchLimit: fetchLimit ?? 0,
      fetchOffset: fetchOffset, requiresIndex: requiresIndex)
    if fetchLimit == 0 {
      // In a request 0 is no limit. The predicate stays, so that the same index serves.
      let nothing = FetchPredicate.always(false)
      request.predicate = predicate.map { $0 && nothing } ?? nothing
    }
    request.fetchBatchSize = fetchBatchSize
    request.includesPendingChanges = includePendingChanges
    for key in sortBy { request.sortBy.append(try key.key()) }
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

/// A property's key path stands for its attribute or relationship: `%K` takes `\Episode.watchedAt`.
extension PartialKeyPath: PredicateArgument where Root: Entity {
  public func predicateExpression() throws -> FetchExpression {
    .path(try Root.propertyName(of: self))
  }
}
