import EntityModel

extension ConstructFinder {
  mutating func request(_ request: FetchRequest, _ entity: ModelEntity) {
    for key in request.sortBy { _ = way(key.path, entity) }
    insert(.limit, if: request.fetchLimit != nil)
    insert(.offset, if: request.fetchOffset > 0)
    insert(.sortSeveral, if: request.sortBy.count > 1)
    insert(.sortDescending, if: request.sortBy.contains(where: \.isDescending))
    for key in request.sortBy {
      switch key.collation {
      case .binary: break
      case .caseInsensitive: insert(.sortCaseInsensitive)
      case .localizedStandard: insert(.sortLocalized)
      }
    }
    if request.isGrouped {
      groups(request, entity)
    } else {
      insert(.sort, if: !request.sortBy.isEmpty)
      for key in request.sortBy {
        insert(.sortThroughToOne, if: way(key.path, entity).toOneSteps > 0)
      }
      switch request.resultType {
      case .entities: insert(.entities)
      case .count: insert(.count)
      case .identifiers: insert(.identifiers)
      case .rows:
        insert(.rows)
        insert(.distinct, if: request.returnsDistinctResults)
        insert(.defaultColumns, if: request.propertiesToFetch.isEmpty)
      }
    }
    for column in request.propertiesToFetch {
      let side = side(column.expression, entity)
      switch column.expression {
      case .path:
        insert(.pathColumns)
        insert(.toOneColumns, if: side.toOneSteps > 0 && !side.isObject)
        insert(.relationshipColumns, if: side.isObject)
      case .aggregate: break
      default: insert(.expressionColumns)
      }
    }
  }

  private mutating func groups(_ request: FetchRequest, _ entity: ModelEntity) {
    let aggregates = request.propertiesToFetch.filter(\.expression.hasAggregate)
    insert(.severalAggregates, if: aggregates.count > 1)
    insert(.aggregateWithoutGroups, if: request.propertiesToGroupBy.isEmpty)
    insert(.group, if: !request.propertiesToGroupBy.isEmpty)
    insert(.groupBySeveral, if: request.propertiesToGroupBy.count > 1)
    insert(.groupCount, if: request.resultType == .count)
    insert(.groupDistinct, if: request.returnsDistinctResults)
    insert(.defaultGroupColumns, if: request.propertiesToFetch.isEmpty)
    for path in request.propertiesToGroupBy {
      let way = way(path, entity)
      insert(.groupByRelationship, if: way.attribute == nil)
      insert(.groupByToOne, if: way.attribute != nil && way.toOneSteps > 0)
    }
    for key in request.sortBy {
      let isColumn = request.propertiesToFetch.contains { $0.name == key.path }
      insert(isColumn ? .sortByColumn : .sortByKey)
    }
    guard let having = request.havingPredicate else { return }
    columns = Set(request.propertiesToFetch.map(\.name))
    for name in having.paths {
      insert(columns.contains(name) ? .havingColumn : .havingKey)
    }
    insert(.havingAggregate, if: having.hasAggregate)
    predicate(having, entity, depth: 0)
    columns = []
  }
}

extension FetchPredicate {
  fileprivate var sides: [FetchExpression] {
    switch self {
    case .always, .exists: []
    case .comparison(let whole): [whole.left, whole.right]
    case .and(let parts), .or(let parts): parts.flatMap(\.sides)
    case .not(let part): part.sides
    }
  }

  fileprivate var paths: [String] {
    sides.compactMap { if case .path(let path) = $0 { path } else { nil } }
  }

  fileprivate var hasAggregate: Bool { sides.contains(where: \.hasAggregate) }
}
