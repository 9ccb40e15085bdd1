public import EntityModel
public import Foundation

/// A typed fetch: SwiftData's names. It becomes a `FetchRequest`, which the planner knows.
public struct FetchDescriptor<T: Entity> {
  /// `nil` means every record.
  public var predicate: FetchPredicate?
  /// Empty means in order of object id; ties are in order of object id.
  public var sortBy: [SortDescriptor<T>]
  /// `nil` is no limit; 0 is none, as in SwiftData.
  public var fetchLimit: Int?
  public var fetchOffset: Int
  /// Throw instead of reading every record or sorting in memory.
  public var requiresIndex = false

  public init(
    predicate: FetchPredicate? = nil, sortBy: [SortDescriptor<T>] = [], fetchLimit: Int? = nil,
    fetchOffset: Int = 0
  ) {
    self.predicate = predicate
    self.sortBy = sortBy
    self.fetchLimit = fetchLimit
    self.fetchOffset = fetchOffset
  }

  /// - Throws: `invalidRequest` for a sort that names no attribute.
  @usableFromInline
  func request() throws -> FetchRequest {
    // In a request 0 is no limit. The predicate stays, so that the same index serves.
    let nothing = fetchLimit == 0 ? FetchPredicate.always(false) : nil
    let parts = [predicate, nothing].compactMap { $0 }
    return FetchRequest(
      entityName: T.entityName, predicate: parts.count == 2 ? parts[0] && parts[1] : parts.first,
      sortBy: try sortBy.map { sort in
        guard let keyPath = sort.keyPath else {
          throw StoreError(
            .invalidRequest, "a sort descriptor has no key path", [("entity", T.entityName)])
        }
        return SortKey(try T.attributeName(of: keyPath), descending: sort.order == .reverse)
      }, fetchLimit: fetchLimit ?? 0, fetchOffset: fetchOffset, requiresIndex: requiresIndex)
  }
}
