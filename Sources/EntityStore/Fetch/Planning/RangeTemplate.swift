import EntityModel

/// The ranges of one index for requests of one form, computed from the values of their parameters.
///
/// What a plan guarantees (the conjuncts that it covers, the order of the records) depends on the
/// numbers of intervals and ranges and on their parts, and not on the values. Values that change
/// these numbers, such as a text that is longer than its room in the key, are not bound.
struct RangeTemplate {
  private let index: IndexLayout
  private var parts: [Part] = []
  private var planned: IndexRanges

  /// A leading part of the key.
  fileprivate struct Part {
    let kind: ValueKind
    let attribute: AttributeDescription
    /// The values that the conjuncts without a parameter allow; `nil` for all.
    let allowed: IntervalSet?
    var parameters: [(number: Int, test: OrderTest)] = []
    /// The planned number of intervals, and whether they are single values.
    var intervals = 0
    var isPoints = false
  }

  /// Returns `nil` if the ranges of the access cannot be computed from the parameters.
  ///
  /// - Parameter request: The request that was planned, which the access serves completely.
  /// - Parameter constants: The values of its parameters.
  init?(_ access: IndexAccess, for request: BoundRequest, _ constants: [Value]) {
    index = access.index
    guard index.listPart == nil, let places = RangeTemplate.places(index, request) else {
      return nil
    }
    let others = request.conjuncts.filter { $0.text.parameter == nil }
    let known = ConjunctSets(others.map(\.program))
    for part in index.parts {
      let attribute = request.entity.description.attributes[part.position]
      let allowed = known.whereTrue(part)
      parts.append(
        Part(kind: part.kind, attribute: attribute, allowed: allowed.isAll ? nil : allowed))
    }
    for (number, (place, test)) in places.enumerated() {
      parts[place].parameters.append((number, test))
    }
    for place in parts.indices {
      guard let set = parts[place].set(constants) else { return nil }
      parts[place].intervals = set.intervals.count
      parts[place].isPoints = set.isPoints
    }
    planned = IndexRanges(of: index, parts.compactMap { $0.set(constants) })
    guard planned.ranges == access.ranges, planned.prefixCounts == access.prefixCounts,
      places.allSatisfy({ $0.place < planned.exactParts })
    else { return nil }
  }

  /// Returns the part of the key and the test of each parameter; `nil` if one of them is not in
  /// exactly one part.
  private static func places(
    _ index: IndexLayout, _ request: BoundRequest
  ) -> [(place: Int, test: OrderTest)]? {
    var places: [(place: Int, test: OrderTest)] = []
    for (text, program) in request.conjuncts {
      guard let parameter = text.parameter else { continue }
      guard case .attribute(let position, _) = program else { return nil }
      let found = index.parts.indices.filter { index.parts[$0].position == position }
      guard found.count == 1, index.parts[found[0]].collation == nil else { return nil }
      places.append((found[0], parameter.test))
    }
    return places
  }

  /// Returns the ranges for other values of the parameters; `nil` if their request has to be
  /// planned, which may also refuse it.
  func ranges(_ constants: [Value]) -> IndexRanges? {
    var sets: [IntervalSet] = []
    sets.reserveCapacity(parts.count)
    for part in parts {
      guard let set = part.set(constants), set.intervals.count == part.intervals,
        set.isPoints == part.isPoints
      else { return nil }
      sets.append(set)
    }
    let ranges = IndexRanges(of: index, sets)
    return ranges.hasShape(of: planned) ? ranges : nil
  }
}

extension RangeTemplate.Part {
  /// Returns the allowed values; `nil` if a constant has another kind than the attribute, even if
  /// both can be compared.
  fileprivate func set(_ constants: [Value]) -> IntervalSet? {
    var set = allowed
    for (number, test) in parameters {
      guard let value = BoundExpression.fit(constants[number], .value(kind), attribute),
        value.kind == kind
      else { return nil }
      let narrower = IntervalSet(test, KeyComponent.bytes(of: value))
      set = set?.intersection(narrower) ?? narrower
    }
    return set ?? .all
  }
}
