import EntityModel
import Foundation
import TestSupport

extension RandomRequests {
  mutating func tree(_ entity: ModelEntity, depth: Int) -> FetchPredicate {
    if depth > 0 {
      switch random.number(0...5) {
      case 0, 1:
        return .and((0..<random.number(0...3)).map { _ in tree(entity, depth: depth - 1) })
      case 2, 3:
        return .or((0..<random.number(0...3)).map { _ in tree(entity, depth: depth - 1) })
      case 4: return .not(tree(entity, depth: depth - 1))
      default: break
      }
    }
    return leaf(entity)
  }

  private mutating func leaf(_ entity: ModelEntity) -> FetchPredicate {
    switch random.number(0...21) {
    case 0: return .always(random.oneIn(2))
    case 1: return nullTest(entity)
    case 2, 3: return isIn(entity)
    case 4: return between(entity)
    case 5, 6, 7: return text(entity) ?? ordered(entity)
    case 8: return twoAttributes(entity)
    case 9, 10: if !isPlain { return list(entity) ?? ordered(entity) }
    case 11, 12: return identity(entity)
    case 13, 14, 15: return quantified(entity) ?? ordered(entity)
    case 16: return exists(entity) ?? ordered(entity)
    case 17: if let aggregate = isPlain ? nil : collection(entity) { return compared(aggregate) }
    case 18: if let sum = arithmetic(entity) { return compared(sum) }
    case 19: return twoConstants()
    default: break
    }
    return ordered(entity)
  }

  static let orders: [ComparisonOperator] = [
    .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
  ]

  // MARK: An attribute and a constant

  private mutating func ordered(_ entity: ModelEntity) -> FetchPredicate {
    let found = attribute(entity) { $0.type != .strings }
    let comparison = random.pick(Self.orders)
    let constant: Value =
      random.oneIn(16) ? .null : random.respelled(constant(found), found.attribute)
    let sides = (FetchExpression.path(found.path), FetchExpression.value(constant))
    let options = options(found.attribute)
    if random.oneIn(4) {
      return .comparison(.init(sides.1, comparison, sides.0, options: options))
    }
    return .comparison(.init(sides.0, comparison, sides.1, options: options))
  }

  private mutating func nullTest(_ entity: ModelEntity) -> FetchPredicate {
    var path = attribute(entity).path
    if random.oneIn(4), let relationship = toOne(entity) { path = relationship }
    let comparison = random.pick([ComparisonOperator.equal, .notEqual])
    if random.oneIn(4) { return .comparison(.init(.value(.null), comparison, .path(path))) }
    return .comparison(path, comparison, .null)
  }

  private mutating func isIn(_ entity: ModelEntity) -> FetchPredicate {
    let found = attribute(entity) { $0.type != .strings }
    var list = (0..<random.number(0...4)).map { _ in
      FetchExpression.value(random.respelled(constant(found), found.attribute))
    }
    if random.oneIn(5) { list.append(.value(.null)) }
    if random.oneIn(8) { list.append(.path(found.path)) }
    return .comparison(
      .init(.path(found.path), .isIn, .list(list), options: options(found.attribute)))
  }

  private mutating func between(_ entity: ModelEntity) -> FetchPredicate {
    let found = attribute(entity) { $0.type != .strings }
    var bounds = [constant(found), constant(found)]
    if !random.oneIn(5), bounds[0].compared(with: bounds[1]) == .descending { bounds.reverse() }
    if random.oneIn(10) { bounds[random.number(0...1)] = .null }
    return .comparison(
      .init(
        .path(found.path), .between, .list(bounds.map(FetchExpression.value)),
        options: options(found.attribute)))
  }

  mutating func options(_ attribute: AttributeDescription) -> ComparisonOptions {
    guard !isPlain, [.string, .url].contains(attribute.type), random.oneIn(2) else { return [] }
    let choices: [ComparisonOptions] = [
      .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
      .normalized, [.normalized, .caseInsensitive], .localized, [.localized, .caseInsensitive],
      [.localized, .diacriticInsensitive],
      [.localized, .caseInsensitive, .diacriticInsensitive],
    ]
    return random.pick(choices)
  }

  // MARK: Texts

  private mutating func text(_ entity: ModelEntity) -> FetchPredicate? {
    guard let found = find(entity, where: { [.string, .url].contains($0.type) }) else { return nil }
    let operators: [ComparisonOperator] = [.contains, .beginsWith, .endsWith, .like, .matches]
    let comparison = random.pick(isPlain ? Array(operators.prefix(3)) : operators)
    let whole = constant(found).text
    let part: String =
      switch comparison {
      case .like: random.likePattern(whole)
      case .matches: random.pick(RandomRequests.patterns)
      default: random.part(of: whole, comparison)
      }
    let value: Value = random.oneIn(16) ? .null : .string(part)
    return .comparison(
      .init(.path(found.path), comparison, .value(value), options: options(found.attribute)))
  }

  static let patterns = [
    ".*", "[a-z]+", "[A-Z]+", "a.?", "x[0-9]+", "(caf|str).*", "\\p{L}*", ".",
    "https?://[a-z.]+/.*",
    "STRASSE", "cafe|fin",
  ]

  // MARK: Two sides that are not constants

  private mutating func twoAttributes(_ entity: ModelEntity) -> FetchPredicate {
    let left = attribute(entity) { $0.type != .strings }
    let isNumber = [.int64, .double, .decimal].contains(left.attribute.type)
    let right = find(entity) { other in
      if isNumber { return [.int64, .double, .decimal].contains(other.type) }
      return other.type.kind == left.attribute.type.kind
    }
    return .comparison(
      .init(.path(left.path), random.pick(Self.orders), .path(right?.path ?? left.path)))
  }

  private mutating func twoConstants() -> FetchPredicate {
    let values: [Value] = random.oneIn(2) ? [1, 2] : ["a", "b"]
    return .comparison(
      .init(.value(random.pick(values)), random.pick(Self.orders), .value(random.pick(values))))
  }

  private mutating func compared(_ side: Typed) -> FetchPredicate {
    .comparison(
      .init(side.expression, random.pick(Self.orders), .value(random.pick(side.samples))))
  }

  // MARK: Lists

  private mutating func list(_ entity: ModelEntity) -> FetchPredicate? {
    guard let found = find(entity, where: { $0.type == .strings }) else { return nil }
    let element = FetchExpression.value(.string(random.pick(["a", "A", "b", "é", "x10", "", "c"])))
    let path = FetchExpression.path(found.path)
    switch random.number(0...5) {
    case 0: return .comparison(.init(path, .contains, element))
    case 1:
      if random.oneIn(2), let text = find(entity, where: { $0.type == .string }) {
        return .comparison(.init(.path(text.path), .isIn, path))
      }
      return .comparison(.init(element, .isIn, path))
    case 2:
      guard case .strings(let texts) = constant(found) else { return nil }
      let list = texts.map { FetchExpression.value(.string($0)) }
      return .comparison(.init(path, random.pick([.equal, .notEqual]), .list(list)))
    case 3:
      return .comparison(
        .init(
          .collection(found.path, .count, nil), random.pick(Self.orders),
          .value(.int64(Int64(random.number(0...3))))))
    default:
      let text = AttributeDescription(name: found.path, type: .string)
      let comparison = random.pick(Self.orders + [.beginsWith, .contains])
      return .comparison(
        .init(
          path, comparison, element, options: options(text),
          quantifier: random.pick([.any, .all])))
    }
  }
}
