import EntityModel
import TestSupport

/// Requests after the shape of an index, so that every way of using one is met.
extension RandomRequests {
  mutating func indexed(_ entity: ModelEntity) -> FetchRequest {
    var request = FetchRequest(entityName: entity.name)
    let index = random.pick(entity.indexes)
    var parts: [FetchPredicate] = []
    switch random.number(0...7) {
    case 0: parts = [lookups(entity)]
    case 1: parts = [union(entity)]
    case 2:
      // The first key is left open.
      if index.keys.count > 1 { parts = key(index.keys[1], entity) }
    case 3: break
    default:
      for key in index.keys.prefix(random.number(1...index.keys.count)) {
        parts += self.key(key, entity)
      }
    }
    if index.isSparse, random.oneIn(2) {
      parts += index.keys.map { .isNotNull($0.attribute) }
    }
    if random.oneIn(4) { parts.append(tree(entity, depth: 1)) }
    if !parts.isEmpty { request.predicate = parts.count == 1 ? parts[0] : .and(parts) }
    if !random.oneIn(3) { request.sortBy = order(index) }
    window(&request)
    covered(&request, index, entity)
    return request
  }

  private func found(_ key: ModelIndex.Key, _ entity: ModelEntity) -> Found? {
    entity.attribute(key.attribute).map { Found(path: $0.name, attribute: $0, owner: entity) }
  }

  private mutating func key(_ key: ModelIndex.Key, _ entity: ModelEntity) -> [FetchPredicate] {
    guard let found = found(key, entity) else { return [] }
    if found.attribute.type == .strings {
      return [.comparison(.init(.path(found.path), .contains, .value("a")))]
    }
    let path = FetchExpression.path(found.path)
    switch random.number(0...7) {
    case 0: return [.isNotNull(found.path)]
    case 1: return [.isNull(found.path)]
    case 2:
      let list = (0..<random.number(2...5)).map { _ in FetchExpression.value(constant(found)) }
      return [.comparison(.init(path, .isIn, .list(list)))]
    case 3:
      let bounds = [constant(found), constant(found)].map(FetchExpression.value)
      return [.comparison(.init(path, .between, .list(bounds)))]
    case 4:
      var parts = [range(found, [.greater, .greaterOrEqual])]
      if random.oneIn(2) { parts.append(range(found, [.less, .lessOrEqual])) }
      return parts
    case 5:
      guard [.string, .url].contains(found.attribute.type) else { break }
      let part = random.part(of: constant(found).text, .beginsWith)
      return [.comparison(found.path, .beginsWith, .string(part))]
    default: break
    }
    let options: ComparisonOptions =
      key.collation == .caseInsensitive && !isPlain && random.oneIn(2) ? .caseInsensitive : []
    return [.comparison(found.path, .equal, constant(found), options: options)]
  }

  private mutating func range(
    _ found: Found, _ comparisons: [ComparisonOperator]
  ) -> FetchPredicate {
    .comparison(found.path, random.pick(comparisons), constant(found))
  }

  /// Returns a lookup by identity, by the unique code, or by a relationship.
  private mutating func lookups(_ entity: ModelEntity) -> FetchPredicate {
    let found = Found(path: "code", attribute: entity.attributes[0], owner: entity)
    switch random.number(0...2) {
    case 0: return .comparison("code", .equal, constant(found))
    case 1: return .isIn("code", (0..<random.number(1...5)).map { _ in constant(found) })
    default: return identity(entity)
    }
  }

  private mutating func union(_ entity: ModelEntity) -> FetchPredicate {
    .or(
      (0..<random.number(2...3)).map { _ in
        let parts = key(random.pick(entity.indexes).keys[0], entity)
        return parts.count == 1 ? parts[0] : .and(parts)
      })
  }

  /// Returns sort keys that the index serves in either direction, from its first or a later key.
  private mutating func order(_ index: ModelIndex) -> [SortKey] {
    let isReversed = random.oneIn(2)
    var keys = index.keys.dropFirst(random.oneIn(3) ? 1 : 0).map { key in
      SortKey(
        key.attribute, descending: key.isDescending != isReversed,
        collation: isPlain ? .binary : key.collation)
    }
    if random.oneIn(4), keys.count > 1 { keys.removeLast() }
    return keys
  }

  /// Results that the index may hold all of.
  private mutating func covered(
    _ request: inout FetchRequest, _ index: ModelIndex, _ entity: ModelEntity
  ) {
    switch random.number(0...5) {
    case 0: request.resultType = .count
    case 1: request.resultType = .identifiers
    case 2:
      request.resultType = .rows
      request.propertiesToFetch = index.keys.compactMap { key in
        guard let found = found(key, entity),
          !isPlain || ![.decimal, .strings].contains(found.attribute.type)
        else { return nil }
        return .path(key.attribute)
      }
      if request.propertiesToFetch.isEmpty { request.propertiesToFetch = ["rank"] }
      request.returnsDistinctResults = random.oneIn(3)
    case 3:
      // The end of an index is the least or the greatest value.
      guard let found = found(index.keys[0], entity),
        ![.strings, .bool].contains(found.attribute.type),
        !isPlain || found.attribute.type != .decimal
      else { return }
      request.resultType = .rows
      request.sortBy = []
      request.propertiesToFetch = [
        random.oneIn(2) ? .minimum(found.path, as: "end") : .maximum(found.path, as: "end")
      ]
    default: result(&request, entity)
    }
  }
}
