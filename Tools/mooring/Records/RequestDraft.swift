import Console
import EntityModel
import EntityStore

/// The request of a command line, read as far as that goes without a store.
struct RequestDraft {
  private let options: FetchOptions
  private let predicate: PredicateText?
  private let having: PredicateText?
  private let parsedPredicate: FetchPredicate?
  private let parsedHaving: FetchPredicate?
  private let variables: VariableValues
  private let sort: [SortKey]
  private let columns: [FetchProperty]
  private let groupKeys: [String]

  /// - Throws: `CommandError`, `PlacedError`.
  init(_ options: FetchOptions) throws {
    self.options = options
    predicate = try options.where.map { try PredicateText(option: "--where", argument: $0) }
    having = try options.having.map { try PredicateText(option: "--having", argument: $0) }
    parsedPredicate = try predicate?.predicate()
    parsedHaving = try having?.predicate()
    variables = try VariableValues(options.variable)
    sort = try OptionList.parts(of: options.sort, "--sort").map(SortKey.init(word:))
    groupKeys = try OptionList.parts(of: options.groupBy, "--group-by")
    let selected = try OptionList.parts(of: options.select, "--select")
      .map(FetchProperty.init(selection:))
    let aggregates = try OptionList.parts(of: options.aggregate, "--aggregate")
      .map(FetchProperty.init(aggregate:))
    let keys = selected.isEmpty ? groupKeys.map(FetchProperty.path) : selected
    columns = keys + aggregates
  }

  /// The request, with the columns that are printed.
  ///
  /// - Throws: `StoreError` for an entity or a template that is not there, `CommandError` for a
  ///   variable.
  func request(for entity: String?, in transaction: ReadTransaction) throws -> FetchRequest {
    var request = try base(entity, in: transaction)
    let description = try transaction.description(of: request.entityName)
    let parts = [request.predicate, parsedPredicate].compactMap { $0 }
    request.predicate = parts.count == 2 ? parts[0] && parts[1] : parts.first
    request.havingPredicate = parsedHaving ?? request.havingPredicate
    try substitute(in: &request)
    if !sort.isEmpty { request.sortBy = sort }
    // A request has no limit of 0; `Fetch` leaves the row out.
    if let limit = options.limit { request.fetchLimit = max(1, limit) }
    if options.offset > 0 { request.fetchOffset = options.offset }
    if !columns.isEmpty { request.propertiesToFetch = columns }
    if !groupKeys.isEmpty { request.propertiesToGroupBy = groupKeys }
    if options.distinct { request.returnsDistinctResults = true }
    if options.requireIndex { request.requiresIndex = true }
    printed(&request, description)
    return request
  }

  /// The template, or a request for all records.
  private func base(_ entity: String?, in transaction: ReadTransaction) throws -> FetchRequest {
    guard let name = options.template else { return FetchRequest(entityName: entity ?? "") }
    let request = try transaction.fetchRequestTemplate(named: name)
    if let entity, entity != request.entityName {
      throw CommandError(
        .usage, "the template \(name) is about \(request.entityName), not \(entity)")
    }
    return request
  }

  private func substitute(in request: inout FetchRequest) throws {
    let used = [request.predicate, request.havingPredicate].compactMap { $0?.variables }
    try variables.requireUse(in: used.reduce(into: []) { $0.formUnion($1) })
    request.predicate = try request.predicate.map(variables.substituted)
    request.havingPredicate = try request.havingPredicate.map(variables.substituted)
  }

  /// Sets the printed columns: whole records have their number and all attributes.
  private func printed(_ request: inout FetchRequest, _ description: EntityDescription) {
    if options.count { request.resultType = .count }
    if options.ids { request.resultType = .identifiers }
    switch request.resultType {
    case .count: return
    case .identifiers:
      // As rows of one column they come one at a time.
      request.propertiesToFetch = [.number]
    case .entities, .rows:
      if request.isGrouped {
        if request.propertiesToFetch.isEmpty {
          request.propertiesToFetch = request.propertiesToGroupBy.map(FetchProperty.path)
        }
      } else if request.propertiesToFetch.isEmpty {
        let attributes = description.attributes.filter { !$0.isHidden }.map(\.name)
        request.propertiesToFetch = [.number] + attributes.map(FetchProperty.path)
      }
      request.resultType = .rows
    }
  }

  /// The store's refusal, with its place if it is one of a predicate.
  func placing(
    _ error: StoreError, of request: FetchRequest, in transaction: ReadTransaction
  ) throws -> any Error {
    let records = FetchRequest(entityName: request.entityName, predicate: request.predicate)
    if let predicate, try isRefused(records, in: transaction) { return predicate.placing(error) }
    var withoutHaving = request
    withoutHaving.havingPredicate = nil
    if let having, try isRefused(request, in: transaction),
      try !isRefused(withoutHaving, in: transaction)
    {
      return having.placing(error)
    }
    return error
  }

  /// Returns true if a request is refused before it reads anything.
  private func isRefused(
    _ request: FetchRequest, in transaction: ReadTransaction
  ) throws -> Bool {
    var request = request
    request.predicate = .and((request.predicate?.conjuncts ?? []) + [.always(false)])
    do {
      _ = try transaction.count(request)
      return false
    } catch let error as StoreError where [.unknownAttribute, .invalidRequest].contains(error.code)
    {
      return true
    }
  }
}
