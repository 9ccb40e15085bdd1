import EntityModel
import TestSupport

/// Relationships, aggregates over them, and arithmetic.
extension RandomRequests {
  // MARK: Identity

  mutating func identity(_ entity: ModelEntity) -> FetchPredicate {
    let isEqual = random.pick([ComparisonOperator.equal, .notEqual])
    guard !random.oneIn(4), let name = toOne(entity),
      let destination = entity.relationship(name)?.destination
    else {
      if random.oneIn(2) {
        return .comparison(.init(.itself, isEqual, object(entity.name)))
      }
      return .comparison(.init(.itself, .isIn, objects(entity.name)))
    }
    switch random.number(0...3) {
    case 0: return .comparison(.init(.path(name), .isIn, objects(destination)))
    case 1:
      let alike = entity.relationships.filter { !$0.isToMany && $0.destination == destination }
      let other = random.pick(alike).name
      let isOwn = destination == entity.name && random.oneIn(2)
      return .comparison(.init(.path(name), isEqual, isOwn ? .itself : .path(other)))
    default: return .comparison(.init(.path(name), isEqual, object(destination)))
    }
  }

  /// The identity of a record, sometimes of a deleted one.
  private mutating func object(_ entity: String) -> FetchExpression {
    let ids = data.identities(entity)
    let id = random.oneIn(6) ? 1_000_000 : ids.randomElement(using: &random) ?? 1
    return .object(ObjectID(entity: entity, number: id))
  }

  private mutating func objects(_ entity: String) -> FetchExpression {
    .list((0..<random.number(0...4)).map { _ in object(entity) })
  }

  // MARK: To-many

  mutating func quantified(_ entity: ModelEntity) -> FetchPredicate? {
    guard var (path, end) = toMany(entity) else { return nil }
    if random.oneIn(3), let further = toMany(end) {
      (path, end) = (path + "." + further.path, further.entity)
    }
    let quantifier = random.pick([FetchPredicate.Quantifier.any, .all])
    switch random.number(0...6) {
    case 0:
      return .comparison(
        .init(.path(path), .equal, object(end.name), quantifier: quantifier))
    case 1:
      return .comparison(.init(.path(path), .isIn, objects(end.name), quantifier: quantifier))
    case 2:
      let found = attribute(end)
      return .comparison(
        .init(
          .path(path + "." + found.path), random.pick([.equal, .notEqual]), .value(.null),
          quantifier: quantifier))
    case 3:
      if !isPlain, let found = find(end, where: { $0.type == .strings }) {
        return .comparison(
          .init(
            .path(path + "." + found.path), random.pick([.equal, .contains]),
            .value(.string(random.pick(["a", "b", "A"]))), quantifier: quantifier))
      }
    default: break
    }
    let found = attribute(end) { $0.type != .strings }
    let isText = found.attribute.type == .string
    let comparison = random.pick(Self.orders + (isText ? [.contains, .beginsWith] : []))
    return .comparison(
      .init(
        .path(path + "." + found.path), comparison, .value(constant(found)),
        options: options(found.attribute), quantifier: quantifier))
  }

  mutating func exists(_ entity: ModelEntity) -> FetchPredicate? {
    guard nesting < 3, let (path, end) = toMany(entity) else { return nil }
    nesting += 1
    defer { nesting -= 1 }
    if random.oneIn(2), let inner = exists(end) {
      return .exists(path, .or([inner, tree(end, depth: 0)]))
    }
    return .exists(path, tree(end, depth: 1))
  }

  // MARK: Aggregates

  /// An expression with values that it may be compared with.
  struct Typed {
    var expression: FetchExpression
    var samples: [Value]
  }

  mutating func collection(_ entity: ModelEntity) -> Typed? {
    guard let (path, end) = toMany(entity) else { return nil }
    let function = random.pick(CollectionFunction.allCases)
    switch function {
    case .count: return Typed(expression: .collection(path, .count, nil), samples: [0, 1, 2, 3])
    case .sum, .average:
      let found = summable(end)
      let samples: [Value] = found.attribute.type == .decimal ? [0, 1, 2] : [0, 0.5, 1, 2, 5]
      return Typed(expression: .collection(path, function, found.path), samples: samples)
    case .minimum, .maximum:
      let found = attribute(end) { ![.strings, .bool].contains($0.type) }
      return Typed(
        expression: .collection(path, function, found.path),
        samples: [constant(found), constant(found)])
    }
  }

  /// A number whose sums are exact.
  mutating func summable(_ entity: ModelEntity) -> Found {
    let names: Set<String> = ["rank", "score", "price"]
    return attribute(entity) { names.contains($0.name) }
  }

  // MARK: Arithmetic

  mutating func arithmetic(_ entity: ModelEntity) -> Typed? {
    if random.oneIn(4) { return dates(entity) }
    let left = summable(entity)
    if random.oneIn(6) {
      return Typed(expression: .negative(.path(left.path)), samples: [0, -1, -2, 1])
    }
    let right = random.oneIn(2) ? FetchExpression.path(summable(entity).path) : .value(2)
    var sign = random.pick(ArithmeticOperator.allCases)
    if sign == .power {
      // Decimals are taken to no power here.
      if isPlain || left.attribute.type == .decimal {
        sign = .multiply
      } else {
        return Typed(
          expression: .arithmetic(.power, .path(left.path), .value(random.pick([0, 1, 2]))),
          samples: [0, 1, 2.25, 4, 9])
      }
    }
    // Decimals have 38 digits: of quotients the sum would depend on the order of the records.
    if sign == .divide, !isPlain { sign = .subtract }
    let expression = FetchExpression.arithmetic(sign, .path(left.path), right)
    if random.oneIn(4) {
      return Typed(
        expression: .arithmetic(.add, expression, .value(1)), samples: [0, 1, 2, 3, 6])
    }
    return Typed(expression: expression, samples: [-1, 0, 1, 2, 4])
  }

  private mutating func dates(_ entity: ModelEntity) -> Typed? {
    guard !isPlain, let found = find(entity, where: { $0.type == .date }) else { return nil }
    let path = FetchExpression.path(found.path)
    if random.oneIn(3) {
      return Typed(
        expression: .arithmetic(.subtract, path, .path(found.path)), samples: [0, 86_400, 0.5])
    }
    return Typed(
      expression: .arithmetic(random.pick([.add, .subtract]), path, .value(86_400)),
      samples: [constant(found), constant(found)])
  }
}
