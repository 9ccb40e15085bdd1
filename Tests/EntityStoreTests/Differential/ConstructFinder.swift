import EntityModel

/// Finds the constructs in a request.
struct ConstructFinder {
  let entities: [ModelEntity]
  private(set) var found: Set<Construct> = []
  /// The names in the predicate of a group, with their expressions.
  var columns: Set<String> = []

  static func constructs(of request: FetchRequest, _ entities: [ModelEntity]) -> Set<Construct> {
    guard let entity = entities.first(where: { $0.name == request.entityName }) else { return [] }
    var finder = ConstructFinder(entities: entities)
    if let predicate = request.predicate { finder.predicate(predicate, entity, depth: 0) }
    finder.request(request, entity)
    return finder.found
  }

  private init(entities: [ModelEntity]) { self.entities = entities }

  mutating func insert(_ construct: Construct, if condition: Bool = true) {
    if condition { found.insert(construct) }
  }

  // MARK: Paths

  struct Way {
    var end: ModelEntity
    var attribute: AttributeDescription?
    var relationship: ModelRelationship?
    var toOneSteps = 0
    var toManySteps = 0
  }

  mutating func way(_ path: String, _ entity: ModelEntity) -> Way {
    var way = Way(end: entity)
    for part in path.split(separator: ".").map(String.init) {
      way.relationship = way.end.relationship(part)
      guard let relationship = way.relationship,
        let next = entities.first(where: { $0.name == relationship.destination })
      else {
        way.attribute = way.end.attribute(part)
        break
      }
      switch relationship.storage {
      case .key: insert(.keyPath)
      case .firstOfLink, .secondOfLink: insert(.throughLinks)
      case .reference, .inverse: break
      }
      if relationship.isToMany { way.toManySteps += 1 } else { way.toOneSteps += 1 }
      way.end = next
    }
    if let attribute = way.attribute { kind(attribute.type) }
    return way
  }

  mutating func kind(_ type: AttributeType) {
    switch type {
    case .enumeration: insert(.enumeration)
    case .int64: insert(.int64)
    case .double: insert(.double)
    case .decimal: insert(.decimal)
    case .bool: insert(.bool)
    case .string: insert(.string)
    case .date: insert(.date)
    case .uuid: insert(.uuid)
    case .data: insert(.data)
    case .url: insert(.url)
    case .strings: insert(.list)
    case .reference: break
    }
  }

  // MARK: Predicates

  mutating func predicate(_ predicate: FetchPredicate, _ entity: ModelEntity, depth: Int) {
    switch predicate {
    case .always: insert(.always)
    case .not(let part):
      insert(.not)
      self.predicate(part, entity, depth: depth)
    case .and(let parts):
      insert(parts.isEmpty ? .emptyAnd : .and)
      for part in parts { self.predicate(part, entity, depth: depth) }
    case .or(let parts):
      insert(parts.isEmpty ? .emptyOr : .or)
      for part in parts { self.predicate(part, entity, depth: depth) }
    case .exists(let path, let part):
      insert(depth == 0 ? .exists : .nestedExists)
      self.predicate(part, way(path, entity).end, depth: depth + 1)
    case .comparison(let whole): comparison(whole, entity)
    }
  }

  private mutating func comparison(_ whole: FetchPredicate.Comparison, _ entity: ModelEntity) {
    let left = side(whole.left, entity)
    let right = side(whole.right, entity)
    options(whole.options)
    switch (left.isConstant, right.isConstant) {
    case (true, true): insert(.twoConstants)
    case (true, false): insert(.constantOnTheLeft)
    case (false, true): insert(.constantOnTheRight)
    case (false, false):
      insert(left.isObject && right.isObject ? .twoRelationships : .twoAttributes)
    }
    comparisonOperator(whole, left, right)
    kinds(whole, left, right)
    quantifier(whole, left)
  }

  private mutating func comparisonOperator(
    _ whole: FetchPredicate.Comparison, _ left: Side, _ right: Side
  ) {
    let isList = left.type == .strings && whole.quantifier == nil
    if isList, [.equal, .notEqual].contains(whole.comparison), whole.right != .value(.null) {
      return insert(.listEquality)
    }
    switch whole.comparison {
    case .equal, .notEqual:
      let isEqual = whole.comparison == .equal
      if whole.right == .value(.null) || whole.left == .value(.null) {
        insert(left.isObject ? .relationshipNull : isEqual ? .isNull : .isNotNull)
        insert(.anyNull, if: whole.quantifier != nil)
      } else {
        insert(isEqual ? .equal : .notEqual)
      }
    case .less: insert(.less)
    case .lessOrEqual: insert(.lessOrEqual)
    case .greater: insert(.greater)
    case .greaterOrEqual: insert(.greaterOrEqual)
    case .between: insert(.between)
    case .isIn: insert(right.type == .strings ? .inAttribute : .isIn)
    case .contains: insert(isList ? .listContains : .contains)
    case .beginsWith: insert(.beginsWith)
    case .endsWith: insert(.endsWith)
    case .like: insert(.like)
    case .matches: insert(.matches)
    }
    let isOrder = ![.equal, .notEqual, .isIn, .between].contains(whole.comparison)
    insert(.nullConstant, if: isOrder && whole.right == .value(.null))
    guard case .list(let parts) = whole.right else { return }
    insert(.nullInList, if: parts.contains(.value(.null)))
    insert(.emptyList, if: parts.isEmpty)
    insert(
      .expressionInList,
      if: parts.contains { if case .path = $0 { true } else { false } })
  }

  private mutating func kinds(_ whole: FetchPredicate.Comparison, _ left: Side, _ right: Side) {
    let constants: [Value] =
      switch whole.right {
      case .value(let value): [value]
      case .list(let parts):
        parts.compactMap { if case .value(let value) = $0 { value } else { nil } }
      default: []
      }
    if let type = left.type, type != .strings {
      for constant in constants {
        guard let found = constant.kind, found != type.kind else { continue }
        if case .enumeration = type { insert(.caseName) } else { insert(.constantOfAnotherKind) }
      }
      if case .enumeration(let enumeration) = type, enumeration.kind == .string {
        insert(.caseName, if: constants.contains { enumeration.name(of: $0) != nil })
      }
    }
    if let a = left.type?.kind, let b = right.type?.kind { insert(.unlikeNumbers, if: a != b) }
    guard left.isObject else { return }
    let isSelf = whole.left == .itself
    switch whole.comparison {
    case .isIn: insert(isSelf ? .selfIn : .relationshipIn)
    default:
      insert(.itself, if: isSelf || whole.right == .itself)
      if case .object = whole.right { insert(.relationshipIdentity, if: !isSelf) }
    }
  }

  private mutating func quantifier(_ whole: FetchPredicate.Comparison, _ left: Side) {
    guard let quantifier = whole.quantifier else { return }
    if left.type == .strings, left.toManySteps == 0 {
      return insert(quantifier == .any ? .anyElement : .allElements)
    }
    insert(quantifier == .any ? .any : .all)
    insert(.anyFlattened, if: left.toManySteps > 1)
    insert(.anyToOneAfter, if: left.toOneSteps > 0)
    insert(.anyObject, if: left.isObject)
    insert(.anyList, if: left.type == .strings)
  }

  private mutating func options(_ options: ComparisonOptions) {
    if options.contains(.normalized) { return insert(.optionN) }
    insert(.optionL, if: options.contains(.localized))
    switch (options.contains(.caseInsensitive), options.contains(.diacriticInsensitive)) {
    case (true, true): insert(.optionCD)
    case (true, false): insert(.optionC)
    case (false, true): insert(.optionD)
    case (false, false): break
    }
  }
}
