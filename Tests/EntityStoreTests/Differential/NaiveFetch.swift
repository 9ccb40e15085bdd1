import EntityModel

/// Answers requests by brute force over dictionaries, directly from the documented semantics. It is
/// the reference for the store and shares no code with the store's evaluator.
struct NaiveFetch {
  let data: ModelData

  /// - Throws: `NaiveError`.
  func answer(_ request: FetchRequest) throws -> FetchAnswer {
    guard let entity = data.entity(request.entityName) else {
      throw NaiveError.meaningless("no entity \(request.entityName)")
    }
    let records = NaiveRecords(data: data, entity: entity)
    let logic = try records.predicates.bind(request.predicate ?? .always(true))
    let members = try data.identities(entity.name).filter { try logic($0) == true }
    if request.isGrouped {
      var rows = try NaiveGroups(records: records, request: request).rows(of: members)
      if request.returnsDistinctResults { rows = Self.distinct(rows) }
      rows = Self.window(rows, request)
      return request.resultType == .count ? .count(rows.count) : .rows(rows)
    }
    let sorted = try NaiveSort(records: records, keys: request.sortBy).sorted(members)
    switch request.resultType {
    case .count: return .count(Self.window(sorted, request).count)
    case .entities, .identifiers: return .identities(Self.window(sorted, request))
    case .rows:
      let columns =
        request.propertiesToFetch.isEmpty
        ? entity.defaultColumns.map(FetchProperty.path) : request.propertiesToFetch
      let operands = try columns.map { try records.predicates.operand($0.expression) }
      var rows = try sorted.map { id in try operands.map { try $0.value(id) } }
      if request.returnsDistinctResults { rows = Self.distinct(rows) }
      return .rows(Self.window(rows, request))
    }
  }

  private static func distinct(_ rows: [[Value]]) -> [[Value]] {
    var seen: Set<[Value]> = []
    return rows.filter { seen.insert($0).inserted }
  }

  private static func window<Element>(_ rows: [Element], _ request: FetchRequest) -> [Element] {
    let rest = rows.dropFirst(request.fetchOffset)
    return Array(rest.prefix(request.fetchLimit ?? .max))
  }
}
