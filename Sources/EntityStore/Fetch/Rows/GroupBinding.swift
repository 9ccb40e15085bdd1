import EntityModel

/// The bound expressions of a grouped request: group keys and aggregates are bound to the records;
/// columns, having and sort to the group keys and aggregates.
struct GroupBinding {
  let properties: [FetchProperty]
  let keys: [BoundExpression]
  private(set) var aggregates: [(function: AggregateFunction, argument: BoundExpression?)] = []
  private(set) var outputs: [ExpressionProgram] = []
  private(set) var having: PredicateProgram?
  private(set) var sort: [BoundSort] = []
  private var columns: GroupColumns
  private let records: Binder

  /// Binds a grouped request.
  ///
  /// - Throws: `unknownAttribute`, `invalidRequest`.
  init(
    _ request: FetchRequest, _ entity: EntityLayout, in transaction: ReadTransaction
  ) throws {
    let records = Binder(.entity(entity), in: transaction)
    self.records = records
    let paths = request.propertiesToGroupBy
    properties =
      request.propertiesToFetch.isEmpty ? paths.map(FetchProperty.path) : request.propertiesToFetch
    try GroupBinding.requireFlat(properties, request.havingPredicate)
    keys = try paths.map { try records.bind(.path($0)) }
    columns = GroupColumns(entity: entity.name)
    for (path, key) in zip(paths, keys) { columns.add(.path(path), key) }
    guard Set(paths).count == paths.count else {
      throw StoreError(
        .invalidRequest, "a group key is named twice",
        [("keys", paths.joined(separator: ", "))])
    }
    if request.havingPredicate != nil, paths.isEmpty {
      throw StoreError(
        .invalidRequest, "a having predicate needs group keys",
        [("entity", entity.name)], advice: "use the predicate, or group by something")
    }

    let having = request.havingPredicate.map { $0.mapExpressions(named) }
    let order = request.sortBy.map { ($0, named(.path($0.path))) }
    var expressions = properties.map(\.expression) + order.map(\.1)
    if let having { expressions += having.expressions }
    for expression in expressions { try addAggregates(of: expression) }

    let binder = Binder(.columns(columns), in: transaction)
    outputs = try properties.map { try binder.bind($0.expression).program }
    self.having = try having.map { try binder.bind($0) }
    sort = try order.map { key, expression in
      try binder.sort(by: try binder.bind(expression), key)
    }
  }

  /// Checks the depth before names are replaced, which happens before anything is bound.
  private static func requireFlat(
    _ properties: [FetchProperty], _ having: FetchPredicate?
  ) throws {
    if properties.allSatisfy({ $0.expression.fits(levels: Binder.depthMax) }),
      having?.fits(levels: Binder.depthMax) != false
    {
      return
    }
    throw StoreError(
      .invalidRequest, "a column or a having predicate is nested too deeply",
      [("limit", String(Binder.depthMax))])
  }

  /// The attributes of the records that are read; `nil` if other values are read, too.
  var attributes: Set<Int>? {
    ExpressionProgram.attributes(of: (keys + aggregates.compactMap(\.argument)).map(\.program))
  }

  /// Returns the expression that a name refers to: a group key, or the column with that name.
  private func named(_ expression: FetchExpression) -> FetchExpression {
    guard case .path(let name) = expression, !columns.contains(expression),
      let property = properties.first(where: { $0.name == name })
    else { return expression }
    return property.expression
  }

  private mutating func addAggregates(of expression: FetchExpression) throws {
    switch expression {
    case .aggregate(let function, let part):
      if columns.contains(expression) { return }
      let argument = try part.map { try records.bind($0) }
      guard argument != nil || function == .count else {
        throw StoreError(
          .invalidRequest, "an aggregate other than count needs an expression",
          [("expression", expression.description)])
      }
      let kind = try records.kind(of: function, argument?.kind, expression)
      aggregates.append((function, argument))
      let attribute = [.minimum, .maximum].contains(function) ? argument?.attribute : nil
      columns.add(
        expression,
        BoundExpression(program: .constant(.null), kind: kind, attribute: attribute))
    default: for part in expression.parts { try addAggregates(of: part) }
    }
  }
}
