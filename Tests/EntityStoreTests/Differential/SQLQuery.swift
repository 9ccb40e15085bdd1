import EntityModel

/// A request as SQL, for the constructs of `Construct.inSQL`.
struct SQLQuery {
  private let entities: [ModelEntity]
  private(set) var arguments: [Value] = []
  private(set) var text = ""
  private var aliases = 0

  static func linkTable(_ entity: String, _ relationship: String) -> String {
    "\"\(entity).\(relationship)\""
  }

  /// - Throws: `NaiveError.meaningless` for what is not in the subset.
  init(_ request: FetchRequest, entities: [ModelEntity]) throws {
    self.entities = entities
    var scope = try scope(request.entityName)
    let condition = try request.predicate.map { try predicate($0, &scope) }
    let rest: String
    if request.isGrouped {
      rest = try groups(request, &scope, condition)
    } else {
      rest = try records(request, &scope, condition)
    }
    text = rest + window(request)
    if request.resultType == .count { text = "SELECT count(*) FROM (\(text))" }
  }

  private func window(_ request: FetchRequest) -> String {
    let limit = request.fetchLimit ?? -1
    return " LIMIT \(limit) OFFSET \(request.fetchOffset)"
  }

  private mutating func records(
    _ request: FetchRequest, _ scope: inout SQLScope, _ condition: String?
  ) throws -> String {
    var order: [String] = []
    for key in request.sortBy {
      order.append(try path(key.path, &scope) + (key.isDescending ? " DESC" : ""))
    }
    let sort = (order + ["\(scope.alias).id"]).joined(separator: ", ")
    guard request.resultType == .rows else {
      return "SELECT \(scope.alias).id" + source(scope, condition) + " ORDER BY \(sort)"
    }
    var columns: [String] = []
    for (place, column) in request.propertiesToFetch.enumerated() {
      columns.append(try expression(column.expression, &scope) + " AS c\(place)")
    }
    let list = columns.joined(separator: ", ")
    if !request.returnsDistinctResults {
      return "SELECT \(list)" + source(scope, condition) + " ORDER BY \(sort)"
    }
    // Of equal rows the first one stays, in the order of the rows.
    let names = columns.indices.map { "c\($0)" }.joined(separator: ", ")
    return "SELECT \(names) FROM (SELECT \(list), row_number() OVER (ORDER BY \(sort)) AS place"
      + source(scope, condition) + ") GROUP BY \(names) ORDER BY min(place)"
  }

  private mutating func groups(
    _ request: FetchRequest, _ scope: inout SQLScope, _ condition: String?
  ) throws -> String {
    var keys: [String] = []
    for path in request.propertiesToGroupBy { keys.append(try self.path(path, &scope)) }
    let properties =
      request.propertiesToFetch.isEmpty
      ? request.propertiesToGroupBy.map(FetchProperty.path) : request.propertiesToFetch
    var columns: [String] = []
    for column in properties { columns.append(try expression(column.expression, &scope)) }
    scope.names = Dictionary(
      zip(request.propertiesToFetch.map(\.name), columns), uniquingKeysWith: { first, _ in first })
    let having = try request.havingPredicate.map { try predicate($0, &scope) }
    var order: [String] = []
    for key in request.sortBy {
      order.append(
        try expression(.path(key.path), &scope) + (key.isDescending ? " DESC" : ""))
    }
    var text = "SELECT \(columns.joined(separator: ", "))" + source(scope, condition)
    if !keys.isEmpty { text += " GROUP BY " + keys.joined(separator: ", ") }
    if let having { text += " HAVING \(having)" }
    let sort = order + keys
    return sort.isEmpty ? text : text + " ORDER BY " + sort.joined(separator: ", ")
  }

  private func source(_ scope: SQLScope, _ condition: String?) -> String {
    " FROM " + scope.source + (condition.map { " WHERE \($0)" } ?? "")
  }

  // MARK: Names

  func entity(_ name: String) throws -> ModelEntity {
    guard let entity = entities.first(where: { $0.name == name }) else {
      throw NaiveError.meaningless("no entity \(name)")
    }
    return entity
  }

  mutating func alias() -> String {
    aliases += 1
    return "t\(aliases)"
  }

  private mutating func scope(_ name: String) throws -> SQLScope {
    let alias = alias()
    return SQLScope(entity: try entity(name), alias: alias, source: "\"\(name)\" AS \(alias)")
  }

  mutating func argument(_ value: Value) -> String {
    arguments.append(value)
    return "?\(arguments.count)"
  }
}

/// The table that paths begin at, with what was joined to it.
struct SQLScope {
  let entity: ModelEntity
  let alias: String
  var source: String
  /// The aliases of the joined tables by path.
  var joined: [String: (alias: String, entity: ModelEntity)] = [:]
  /// The columns of groups.
  var names: [String: String] = [:]

  init(entity: ModelEntity, alias: String, source: String) {
    self.entity = entity
    self.alias = alias
    self.source = source
  }
}
