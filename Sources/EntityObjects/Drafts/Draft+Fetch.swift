public import EntityModel
public import EntityStore

/// Fetches with the pending changes in them: filtered, sorted and windowed as if they had been
/// saved. For `includesPendingChanges == false` the records and their order are those of the store,
/// with the draft's values; one that the draft has deleted comes with its stored values.
extension Draft {
  /// - Throws: As `ReadTransaction.fetch`.
  public func fetch(_ request: FetchRequest) throws -> [Record] {
    try read { transaction in
      var records: [Record] = []
      let fetch = try DraftFetch(request, in: transaction)
      try fetch.run { id, view in
        records.append(try transaction.record(view, id: id, in: fetch.entity))
      }
      return records
    }
  }

  /// - Throws: As `ReadTransaction.fetch`.
  public func fetch<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    try fetch(try descriptor.request(), as: T.self)
  }

  /// The records of the request as Swift values, with what it prefetches.
  ///
  /// - Throws: As `ReadTransaction.fetch(_:as:)`.
  public func fetch<T: Entity>(_ request: FetchRequest, as type: T.Type) throws -> [T] {
    try StoreError.requireEntity(type.entityName, of: request)
    return try read { transaction in
      var values: [T] = []
      let fetch = try DraftFetch(request, in: transaction)
      var decoder = EntityDecoder(type, entity: fetch.entity, in: transaction)
      try fetch.run { id, view in
        try decoder.decode(view, id) { values.append(try T(from: &$0)) }
      }
      for name in request.relationshipKeyPathsForPrefetching {
        try transaction.prefetch(name, into: &values)
      }
      return values
    }
  }

  public func fetchIdentifiers(_ request: FetchRequest) throws -> [ObjectID] {
    try read { transaction in
      try DraftFetch(request, in: transaction).identifiers()
        .map { ObjectID(entity: request.entityName, number: $0) }
    }
  }

  public func fetchIdentifiers<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> [ObjectID] {
    try fetchIdentifiers(try descriptor.request())
  }

  /// The columns of the records or of the groups, as they were saved: rows never have pending
  /// changes in them.
  public func fetchRows(_ request: FetchRequest) throws -> [ResultRow] {
    try store.read { try $0.fetchRows(request) }
  }

  /// The number of records that `fetch` would return. The number of rows, for a request that groups
  /// them or leaves out equal ones, is that of `fetchRows`.
  public func count(_ request: FetchRequest) throws -> Int {
    try read { transaction in
      if request.countsRows { return try transaction.stored.count(request) }
      return try DraftFetch(request, in: transaction).count()
    }
  }

  public func count<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    try count(try descriptor.request())
  }
}
