package import EntityModel

extension SeededRandom {
  /// A request over an entity; half of its constants are values that some record has.
  package mutating func request(
    _ entity: EntityDescription, records: [Int64: [Value]]
  ) -> FetchRequest {
    // In order, so that a seed gives the same requests in every process.
    var rows = records.sorted { $0.key < $1.key }.map(\.value)
    if rows.isEmpty { rows = [row(of: entity.attributes)] }
    var request = FetchRequest(entityName: entity.name)
    let index = pick(entity.indexes)
    if !oneIn(5) { request.predicate = predicate(entity, index, rows) }
    switch number(0...4) {
    case 0: break
    case 1: request.sortBy = (0..<number(1...3)).map { _ in sortKey(entity) }
    default:
      // What the index gives, or all of it the other way round, from its first key or a later.
      let isReversed = oneIn(2)
      request.sortBy = index.keys.dropFirst(oneIn(3) ? 1 : 0).map { key in
        SortKey(
          entity.attributes.first { $0.id == key.attributeID }!.name,
          descending: key.isDescending != isReversed, collation: key.collation)
      }
    }
    if oneIn(2) { request.fetchLimit = number(1...12) }
    if oneIn(3) { request.fetchOffset = number(0...12) }
    return request
  }

  private mutating func sortKey(_ entity: EntityDescription) -> SortKey {
    let attribute = pick(entity.attributes)
    let collations: [Collation] = [
      .binary, .caseInsensitive, .localizedStandard, .localizedStandard("sv"),
    ]
    return SortKey(
      attribute.name, descending: oneIn(2),
      collation: attribute.type == .string ? pick(collations) : .binary)
  }

  private mutating func predicate(
    _ entity: EntityDescription, _ index: IndexDescription, _ rows: [[Value]]
  ) -> FetchPredicate {
    if oneIn(3) { return tree(entity, rows, depth: 3) }
    // Equal leading keys, a range on the next, and sometimes something else.
    var parts: [FetchPredicate] = []
    let row = pick(rows)
    for key in index.keys.prefix(number(1...index.keys.count)) {
      let position = entity.attributes.firstIndex { $0.id == key.attributeID }!
      let name = entity.attributes[position].name
      switch number(0...5) {
      case 0: parts.append(.isNotNull(name))
      case 1: parts.append(contentsOf: range(entity.attributes[position], rows, position))
      default:
        parts.append(
          .comparison(
            name, .equal, row[position],
            options: options(entity.attributes[position], row[position])))
      }
    }
    if index.isSparse {
      for key in index.keys {
        parts.append(.isNotNull(entity.attributes.first { $0.id == key.attributeID }!.name))
      }
    }
    if oneIn(3) { parts.append(tree(entity, rows, depth: 2)) }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  private mutating func range(
    _ attribute: AttributeDescription, _ rows: [[Value]], _ position: Int
  ) -> [FetchPredicate] {
    var parts: [FetchPredicate] = []
    if oneIn(2) {
      parts.append(
        comparison(attribute, pick([.greater, .greaterOrEqual]), rows, position))
    }
    if oneIn(2) || parts.isEmpty {
      parts.append(
        comparison(attribute, pick([.less, .lessOrEqual]), rows, position))
    }
    return parts
  }

  private mutating func tree(
    _ entity: EntityDescription, _ rows: [[Value]], depth: Int
  ) -> FetchPredicate {
    if depth > 0, !oneIn(3) {
      let parts = (0..<number(0...3)).map { _ in tree(entity, rows, depth: depth - 1) }
      switch number(0...2) {
      case 0: return .and(parts)
      case 1: return .or(parts)
      default: return .not(tree(entity, rows, depth: depth - 1))
      }
    }
    let position = number(0...entity.attributes.count - 1)
    let attribute = entity.attributes[position]
    switch number(0...7) {
    case 0: return .always(oneIn(2))
    case 1: return .isNull(attribute.name)
    default:
      let comparison = pick([
        ComparisonOperator.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
      ])
      if oneIn(12) { return .comparison(attribute.name, comparison, .null) }
      return self.comparison(attribute, comparison, rows, position)
    }
  }

  private mutating func comparison(
    _ attribute: AttributeDescription, _ comparison: ComparisonOperator, _ rows: [[Value]],
    _ position: Int
  ) -> FetchPredicate {
    let constant = constant(attribute, rows, position)
    return .comparison(
      attribute.name, comparison, constant, options: options(attribute, constant))
  }

  private mutating func options(
    _ attribute: AttributeDescription, _ constant: Value
  ) -> ComparisonOptions {
    guard attribute.type == .string, !constant.isNull else { return [] }
    return pick([[], [], .caseInsensitive, .localized])
  }

  private mutating func constant(
    _ attribute: AttributeDescription, _ rows: [[Value]], _ position: Int
  ) -> Value {
    if oneIn(2) { return pick(rows)[position] }
    return value(attribute.type.kind)
  }
}
