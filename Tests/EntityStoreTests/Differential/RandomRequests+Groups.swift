import EntityModel
import TestSupport

/// Aggregates and groups.
extension RandomRequests {
  mutating func grouped(_ entity: ModelEntity) -> FetchRequest {
    var request = FetchRequest(entityName: entity.name)
    request.resultType = random.oneIn(6) ? .count : .rows
    if random.oneIn(2) { request.predicate = tree(entity, depth: 1) }
    if !random.oneIn(4) {
      request.propertiesToGroupBy = Array(
        Set((0..<random.pick([1, 1, 2, 3])).map { _ in groupKey(entity) })
      ).sorted()
    }
    let isKeyed = !request.propertiesToGroupBy.isEmpty
    var columns: [FetchProperty] = []
    for path in request.propertiesToGroupBy where !random.oneIn(4) { columns.append(.path(path)) }
    let count = isKeyed ? random.number(0...3) : random.number(1...3)
    for number in 0..<count {
      columns.append(FetchProperty("aggregate\(number)", aggregate(entity).expression))
    }
    if random.oneIn(6), count > 0 {
      columns.append(
        FetchProperty(
          "double", .arithmetic(.multiply, .aggregate(.count, nil), .value(2))))
    }
    request.propertiesToFetch = columns
    if isKeyed {
      if random.oneIn(2) { request.havingPredicate = having(request, entity) }
      request.sortBy = sortKeys(request)
    }
    request.returnsDistinctResults = random.oneIn(8) && request.sortBy.isEmpty && !isPlain
    window(&request)
    return request
  }

  private mutating func groupKey(_ entity: ModelEntity) -> String {
    if random.oneIn(6), let name = toOne(entity) { return name }
    return attribute(entity) { $0.type != .strings }.path
  }

  private mutating func aggregate(_ entity: ModelEntity) -> Typed {
    switch random.pick(AggregateFunction.allCases) {
    case .count:
      let path = random.oneIn(2) ? nil : FetchExpression.path(attribute(entity).path)
      return Typed(expression: .aggregate(.count, path), samples: [0, 1, 2, 5])
    case .countDistinct:
      let path = attribute(entity) { $0.type != .strings }.path
      return Typed(expression: .aggregate(.countDistinct, .path(path)), samples: [0, 1, 2, 5])
    case .sum:
      if random.oneIn(3), let sum = arithmetic(entity),
        case .arithmetic(_, let left, _) = sum.expression,
        !isDate(left, entity)
      {
        return Typed(expression: .aggregate(.sum, sum.expression), samples: [0, 1, 4])
      }
      return Typed(
        expression: .aggregate(.sum, .path(summable(entity).path)), samples: [0, 1, 3, 7])
    case .average:
      return Typed(
        expression: .aggregate(.average, .path(summable(entity).path)), samples: [0, 1, 2])
    case .minimum, .maximum:
      let found = attribute(entity) { ![.strings, .bool].contains($0.type) }
      let function = random.pick([AggregateFunction.minimum, .maximum])
      return Typed(
        expression: .aggregate(function, .path(found.path)),
        samples: [constant(found), constant(found)])
    }
  }

  private func isDate(_ expression: FetchExpression, _ entity: ModelEntity) -> Bool {
    guard case .path(let path) = expression else { return true }
    return path.hasSuffix("day")
  }

  private mutating func having(
    _ request: FetchRequest, _ entity: ModelEntity
  ) -> FetchPredicate {
    let parts = (0..<random.number(1...2)).map { _ in havingPart(request, entity) }
    return parts.count == 1 ? parts[0] : random.oneIn(2) ? .and(parts) : .or(parts)
  }

  private mutating func havingPart(
    _ request: FetchRequest, _ entity: ModelEntity
  ) -> FetchPredicate {
    let aggregates = request.propertiesToFetch.filter(\.expression.hasAggregate)
    switch random.number(0...3) {
    case 0:
      let aggregate = aggregate(entity)
      return .comparison(
        .init(
          aggregate.expression, random.pick(Self.orders), .value(random.pick(aggregate.samples))))
    case 1, 2:
      // Counts are numbers, whatever they count.
      let counts = aggregates.filter {
        if case .aggregate(let function, _) = $0.expression {
          return [.count, .countDistinct].contains(function)
        }
        return false
      }
      if let column = counts.randomElement(using: &random) {
        return .comparison(
          column.name, random.pick(Self.orders), .int64(Int64(random.number(0...4))))
      }
      if let column = aggregates.randomElement(using: &random) {
        return random.oneIn(2) ? .isNull(column.name) : .isNotNull(column.name)
      }
    default: break
    }
    let key = random.pick(request.propertiesToGroupBy)
    return random.oneIn(2) ? .isNull(key) : .isNotNull(key)
  }

  private mutating func sortKeys(_ request: FetchRequest) -> [SortKey] {
    let names = request.propertiesToFetch.map(\.name) + request.propertiesToGroupBy
    return (0..<random.number(0...2)).map { _ in
      SortKey(random.pick(names), descending: random.oneIn(2))
    }
  }
}
