package import EntityModel

/// The part of a request that is about single records, bound to the entity.
package struct BoundRequest {
  package let entity: EntityLayout
  /// What must all hold, as written and as bound.
  package var conjuncts: [(text: FetchPredicate, program: PredicateProgram)]
  package private(set) var sort: [BoundSort]
  package private(set) var offset: Int
  /// `Int.max` without a limit.
  package private(set) var limit: Int
  package private(set) var requiresIndex: Bool
  /// Whether the order of the records matters.
  package private(set) var isOrdered = true
  /// The attributes that are asked for; `nil` for the whole record.
  var attributes: Set<Int>?

  /// - Throws: `unknownAttribute`, `invalidRequest`.
  package init(
    _ request: FetchRequest, _ entity: EntityLayout, in transaction: ReadTransaction
  ) throws {
    guard request.fetchLimit >= 0, request.fetchOffset >= 0 else {
      throw StoreError(
        .invalidRequest, "a limit or an offset is negative",
        [("limit", String(request.fetchLimit)), ("offset", String(request.fetchOffset))])
    }
    self.entity = entity
    let binder = Binder(.entity(entity), in: transaction)
    conjuncts = try (request.predicate?.conjuncts ?? []).map { ($0, try binder.bind($0)) }
    conjuncts.removeAll { if case .constant(.yes) = $0.program { true } else { false } }
    sort = request.isGrouped ? [] : try request.sortBy.map { try binder.bind($0) }
    offset = request.fetchOffset
    limit = request.fetchLimit == 0 ? .max : request.fetchLimit
    requiresIndex = request.requiresIndex
    sort.removeAll(where: isFixed)
  }

  /// Whether the predicate leaves one value for the sort key.
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

  /// How many matches there are up to the end of the window, at most.
  package var windowEnd: Int {
    let (end, overflows) = offset.addingReportingOverflow(limit)
    return overflows ? .max : end
  }

  /// All matches in any order, for aggregates.
  func unordered(attributes: Set<Int>?) -> BoundRequest {
    var request = withoutWindow()
    request.sort = []
    request.isOrdered = false
    request.attributes = attributes
    return request
  }

  /// The first matches, in order.
  ///
  /// - Parameter count: `nil` for all of them.
  package func first(_ count: Int?) -> BoundRequest {
    var request = withoutWindow()
    if let count { request.limit = count }
    return request
  }

  /// All matches, in order.
  func withoutWindow() -> BoundRequest {
    var request = self
    request.offset = 0
    request.limit = .max
    return request
  }

  /// What is left of it once it is planned, and the plan leaves nothing to be checked or sorted.
  var planned: BoundRequest {
    var request = self
    request.conjuncts = []
    request.sort = []
    return request
  }

  /// For the number of records in the window, to which their order and their values do not matter.
  package var counted: BoundRequest {
    var request = self
    request.sort = []
    request.isOrdered = false
    request.attributes = []
    return request
  }

  /// The first match in the order of one attribute. Without an index that has it the caller does
  /// something else, so that none is required.
  func first(by key: BoundSort, of position: Int) -> BoundRequest {
    var request = self
    request.offset = 0
    request.limit = 1
    request.sort = [key]
    request.isOrdered = true
    request.attributes = [position]
    request.requiresIndex = false
    return request
  }
}

extension Binder {
  func bind(_ key: SortKey) throws -> BoundSort {
    try sort(by: try bind(.path(key.path)), key)
  }

  /// - Parameter bound: What the key names.
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
