import EntityModel
import EntityStore

/// The result of a request with the columns of `mooring fetch`, page by page.
///
/// For a request of records, the ids are read on one snapshot, 24 bytes each, and each page on a
/// new one, on the store's own threads: no snapshot is held between two pages. A record is returned
/// as it is when its page is read, even if it no longer matches; a deleted one is left out. Groups,
/// distinct rows and counts are read on one snapshot, and all of them are held in memory.
struct RowPages: Sendable {
  let titles: [String]
  private let store: Store
  private let content: Content

  private enum Content: Sendable {
    case count(FetchRequest)
    case identifiers(FetchRequest)
    case records(FetchRequest)
    case rows(FetchRequest)
  }

  struct Page: Sendable {
    let rows: [[Value]]
    /// The number of rows through this page, and the most that there will be.
    let done: Int
    let total: Int
  }

  /// - Throws: `unknownEntity`.
  init(_ request: FetchRequest, in store: Store) throws {
    self.store = store
    var request = request
    switch request.resultType {
    case .count:
      titles = ["count"]
      content = .count(request)
    case .identifiers:
      titles = ["object", "url"]
      content = .identifiers(request)
    case .entities, .rows:
      if request.propertiesToFetch.isEmpty {
        request.propertiesToFetch = try Self.columns(of: request, in: store)
      }
      request.resultType = .rows
      titles = request.propertiesToFetch.map(\.name)
      let isOfRecords = !request.isGrouped && !request.returnsDistinctResults
      content = isOfRecords ? .records(request) : .rows(request)
    }
  }

  /// The columns of a request that names none: the id and all attributes of records, the keys of
  /// groups.
  private static func columns(
    of request: FetchRequest, in store: Store
  ) throws -> [FetchProperty] {
    if request.isGrouped { return request.propertiesToGroupBy.map(FetchProperty.path) }
    let description = try store.read { try $0.description(of: request.entityName) }
    let attributes = description.attributes.filter { !$0.isHidden }.map(\.name)
    return [FetchProperty("_id", .itself)] + attributes.map(FetchProperty.path)
  }

  /// Calls the closure with the pages in order.
  ///
  /// - Throws: The errors of the closure and of `fetchRows`; `CancellationError`;
  ///   `snapshotExpired`.
  func forEach(_ body: (Page) async throws -> Void) async throws {
    switch content {
    case .count(let request):
      let count = try await store.readAsynchronously { try $0.count(request) }
      try await body(Page(rows: [[.int64(Int64(count))]], done: 1, total: 1))
    case .identifiers(let request):
      let id = try store.id
      try await forEachPage(of: try await identities(of: request), body) { identities in
        identities.map { [.string($0.description), .string($0.reference(in: id))] }
      }
    case .records(let request):
      try await forEachPage(of: try await identities(of: request), body) { identities in
        try await read(identities, request)
      }
    case .rows(let request):
      let options = AsynchronousFetchOptions(snapshotLimit: Limits.snapshotMax)
      let rows = try await store.fetchRowsAsynchronously(request, options: options).value
      try await forEachPage(of: rows, body) { $0.map(\.values) }
    }
  }

  private func identities(of request: FetchRequest) async throws -> [ObjectID] {
    let options = AsynchronousFetchOptions(snapshotLimit: Limits.snapshotMax)
    return try await store.readAsynchronously(options: options) {
      try $0.fetchIdentifiers(request)
    }
  }

  private func forEachPage<Element>(
    of elements: [Element], _ body: (Page) async throws -> Void,
    _ read: (ArraySlice<Element>) async throws -> [[Value]]
  ) async throws {
    var done = 0
    while done < elements.count {
      try Task.checkCancellation()
      let page = elements[done...].prefix(Limits.pageRecords)
      done += page.count
      try await body(Page(rows: try await read(page), done: done, total: elements.count))
    }
  }

  /// Reads the columns of records, in the order of the ids.
  private func read(
    _ identities: ArraySlice<ObjectID>, _ request: FetchRequest
  ) async throws -> [[Value]] {
    var request = request
    let objects = FetchExpression.list(identities.map(FetchExpression.object))
    request.predicate = .comparison(.init(.itself, .isIn, objects))
    request.sortBy = []
    (request.fetchOffset, request.fetchLimit) = (0, nil)
    // A name that no other column can have: it is longer than all of them together.
    let number = FetchProperty(titles.joined() + "#", .itself)
    request.propertiesToFetch = [number] + request.propertiesToFetch
    return try await store.readAsynchronously { [request] transaction in
      var rows: [Int64: [Value]] = [:]
      try transaction.forEachRow(request) { row in
        if case .int64(let number)? = row.values.first {
          rows[number] = Array(row.values.dropFirst())
        }
        return true
      }
      return identities.compactMap { rows[$0.number] }
    }
  }
}
