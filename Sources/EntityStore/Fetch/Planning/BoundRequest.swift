package import EntityModel

/// The part of a request that concerns single records, bound to the entity.
package struct BoundRequest {
  package let entity: EntityLayout
  /// The conditions that must all be true, as written and as bound.
  package var conjuncts: [(text: FetchPredicate, program: PredicateProgram)]
  package private(set) var sort: [BoundSort]
  package private(set) var window: FetchWindow
  package private(set) var requiresIndex: Bool
  /// True if the order of the records matters.
  package private(set) var isOrdered = true
  /// The requested attributes; `nil` for the whole record.
  var attributes: Set<Int>?
  /// The request, if the store's fetches are measured.
  let observed: FetchRequest?

  /// Binds a request.
  ///
  /// - Throws: `unknownAttribute`, `invalidRequest`.
  package init(
    _ request: FetchRequest, _ entity: EntityLayout, in transaction: ReadTransaction
  ) throws {
    window = try FetchWindow(of: request)
    self.entity = entity
    observed = transaction.catalog.fetchObserver == nil ? nil : request
    let binder = Binder(.entity(entity), in: transaction)
    conjuncts = try (request.predicate?.conjuncts ?? []).map { ($0, try binder.bind($0)) }
    conjuncts.removeAll { if case .constant(.yes) = $0.program { true } else { false } }
    sort = request.isGrouped ? [] : try request.sortBy.map { try binder.bind($0) }
    requiresIndex = request.requiresIndex
    sort.removeAll(where: isFixed)
  }

  /// Returns true if the predicate allows only one value for the sort key.
  private func isFixed(_ key: BoundSort) -> Bool {
    guard let position = key.position else { return false }
    let kind = entity.description.attributes[position].type.kind
    if kind == .strings { return false }
    let set = IntervalSet.intersection(
      of: conjuncts.map {
        KeySets($0.program, position: position, key: .init(kind: kind, collation: nil)).whereTrue
      })
    return set.intervals.count == 1 && set.isPoints
  }

  package var offset: Int { window.offset }
  package var limit: Int { window.limit }
  /// The maximum number of matches up to the end of the window.
  package var windowEnd: Int { window.end }

  /// Returns the request for all matches in any order, for aggregates.
  func unordered(attributes: Set<Int>?) -> BoundRequest {
    var request = withoutWindow()
    request.sort = []
    request.isOrdered = false
    request.attributes = attributes
    return request
  }

  /// Returns the request for the first matches, in order.
  ///
  /// - Parameter count: `nil` for all of them.
  package func first(_ count: Int?) -> BoundRequest {
    var request = withoutWindow()
    if let count { request.window.limit = count }
    return request
  }

  /// Returns the request for all matches, in order.
  func withoutWindow() -> BoundRequest {
    var request = self
    request.window = .all
    return request
  }

  /// The request for the number of records in the window, for which their order and values do not
  /// matter.
  package var counted: BoundRequest {
    var request = self
    request.sort = []
    request.isOrdered = false
    request.attributes = []
    return request
  }

  /// Returns the request for the first match in the order of one attribute. It does not require an
  /// index, because the caller reads all matches if none has the order.
  func first(by key: BoundSort, of position: Int) -> BoundRequest {
    var request = first(1)
    request.sort = [key]
    request.isOrdered = true
    request.attributes = [position]
    request.requiresIndex = false
    return request
  }
}

extension FetchRequest {
  /// Binds the request, and prepares the transaction to read its entity.
  func bound(in transaction: ReadTransaction) throws -> BoundRequest {
    let entity = try transaction.catalog.entity(entityName)
    try transaction.prepareToRead(entity)
    return try BoundRequest(self, entity, in: transaction)
  }
}

extension Binder {
  func bind(_ key: SortKey) throws -> BoundSort {
    try sort(by: try bind(.path(key.path)), key)
  }

  /// Binds a sort key.
  ///
  /// - Parameter bound: The bound expression of the key.
  func sort(by bound: BoundExpression, _ key: SortKey) throws -> BoundSort {
    if key.collation != .binary, !bound.kind.isText {
      throw StoreError(
        .invalidRequest, "a collation is for texts",
        [("sort", key.description), ("type", bound.kind.name)], advice: "leave it out")
    }
    return BoundSort(
      program: bound.program, position: bound.hops.isEmpty ? bound.position : nil,
      key: try KeyCollation.of(key.collation), isDescending: key.isDescending)
  }
}

/// The part of the matches that a fetch returns.
package struct FetchWindow {
  package private(set) var offset = 0
  /// The limit; `Int.max` without one.
  package fileprivate(set) var limit = Int.max

  static let all = FetchWindow()

  private init() {}

  /// - Throws: `invalidRequest` if the limit is not positive, or the offset negative.
  init(of request: borrowing FetchRequest) throws(StoreError) {
    offset = request.fetchOffset
    limit = request.fetchLimit ?? .max
    if limit > 0, offset >= 0 { return }
    throw StoreError(
      .invalidRequest, "a limit is not positive, or an offset is negative",
      [("limit", String(limit)), ("offset", String(offset))], advice: "use nil for no limit")
  }

  /// The maximum number of matches up to the end of the window.
  package var end: Int {
    let (end, overflows) = offset.addingReportingOverflow(limit)
    return overflows ? .max : end
  }
}
