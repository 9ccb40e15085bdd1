import EntityModel

extension ConstructFinder {
  // MARK: Sides

  struct Side {
    var isConstant = false
    var isObject = false
    var type: AttributeType?
    var toOneSteps = 0
    var toManySteps = 0
  }

  mutating func side(_ expression: FetchExpression, _ entity: ModelEntity) -> Side {
    switch expression {
    case .value: return Side(isConstant: true)
    case .object: return Side(isConstant: true, isObject: true)
    case .list(let parts):
      for part in parts { _ = side(part, entity) }
      return Side(isConstant: true)
    case .itself: return Side(isObject: true)
    case .variable: return Side()
    case .path(let path):
      if columns.contains(path) { return Side() }
      let way = way(path, entity)
      let isObject = way.attribute == nil
      insert(.toOnePath, if: way.toOneSteps - (isObject ? 1 : 0) > 0 && way.toManySteps == 0)
      insert(.longToOnePath, if: way.toOneSteps > 1 && way.toManySteps == 0)
      return Side(
        isObject: isObject, type: way.attribute?.type, toOneSteps: way.toOneSteps,
        toManySteps: way.toManySteps)
    case .collection(let path, let function, let rest):
      let way = way(path, entity)
      if way.attribute != nil {
        insert(.listCount)
        return Side(type: .int64)
      }
      collection(function)
      if let rest {
        let further = self.way(rest, way.end)
        insert(.collectionFurther, if: further.toOneSteps > 0)
      }
      return Side()
    case .aggregate(let function, let part):
      aggregate(function, part)
      if let part { _ = side(part, entity) }
      return Side()
    case .negative(let part):
      insert(.negative)
      return side(part, entity)
    case .arithmetic(let sign, let left, let right):
      let (a, b) = (side(left, entity), side(right, entity))
      insert(.dateArithmetic, if: a.type == .date || b.type == .date)
      insert(.aggregateArithmetic, if: left.hasAggregate || right.hasAggregate)
      switch sign {
      case .add: insert(.add)
      case .subtract: insert(.subtract)
      case .multiply: insert(.multiply)
      case .divide: insert(.divide)
      case .power: insert(.power)
      }
      return Side()
    }
  }

  private mutating func collection(_ function: CollectionFunction) {
    switch function {
    case .count: insert(.collectionCount)
    case .sum: insert(.collectionSum)
    case .average: insert(.collectionAverage)
    case .minimum: insert(.collectionMinimum)
    case .maximum: insert(.collectionMaximum)
    }
  }

  private mutating func aggregate(_ function: AggregateFunction, _ part: FetchExpression?) {
    switch function {
    case .sum: insert(.sum)
    case .average: insert(.average)
    case .minimum: insert(.minimum)
    case .maximum: insert(.maximum)
    case .count: insert(part == nil ? .countOfRows : .countOfValues)
    case .countDistinct: insert(.countDistinct)
    }
    switch part {
    case .arithmetic, .collection, .negative: insert(.aggregateOfExpression)
    default: break
    }
  }
}
