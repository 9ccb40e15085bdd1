public import EntityModel
public import EntityStore

/// Fetches that include the pending changes: records are filtered, sorted and windowed as if the
/// changes had been saved. With `includesPendingChanges == false` the store alone decides which
/// records are returned and in which order, but with the draft's values; a record that the draft
/// has deleted is returned with its stored values.
extension Draft {
  /// Returns the records of the request.
  ///
  /// - Throws: The errors of `ReadTransaction.fetch`.
  public func fetch(_ request: FetchRequest) throws -> [Record] {
    try read { transaction in
      var records: [Record] = []
      let fetch = try DraftFetch(request, in: transaction)
      try fetch.run { id, view in
        records.append(try Record(view, id: id, of: fetch.entity))
      }
      return records
    }
  }

  /// Returns the values of the descriptor.
  ///
  /// - Throws: The errors of `ReadTransaction.fetch`.
  public func fetch<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    try fetch(try descriptor.request(), as: T.self)
  }

  /// Returns the records of the request as Swift values, with what it prefetches.
  ///
  /// - Throws: The errors of `ReadTransaction.fetch(_:as:)`.
  public func fetch<T: Entity>(_ request: FetchRequest, as type: T.Type) throws -> [T] {
    try fetchIdentified(request, as: type).map(\.value)
  }

  /// Returns the values of the descriptor with the identities of their records; temporary ones for
  /// records that the draft has inserted.
  ///
  /// - Throws: The errors of `ReadTransaction.fetch`.
  public func fetchIdentified<T: Entity>(
    _ descriptor: FetchDescriptor<T>
  ) throws -> [Identified<T>] {
    try fetchIdentified(try descriptor.request(), as: T.self)
  }

  /// Returns the records of the request as Swift values with their identities, and with what it
  /// prefetches.
  ///
  /// - Throws: The errors of `ReadTransaction.fetch(_:as:)`.
  public func fetchIdentified<T: Entity>(
    _ request: FetchRequest, as type: T.Type
  ) throws -> [Identified<T>] {
    try StoreError.requireEntity(type.entityName, of: request)
    return try read { transaction in
      var identities: [ObjectID] = []
      var values: [T] = []
      let fetch = try DraftFetch(request, in: transaction)
      let decoder = EntityDecoder(type, entity: fetch.entity, in: transaction)
      try fetch.run { id, view in
        try decoder.decode(view, id) { record in
          identities.append(record.id)
          values.append(try T(from: &record))
        }
      }
      for name in request.relationshipKeyPathsForPrefetching {
        try transaction.prefetch(name, into: &values)
      }
      return zip(identities, values).map { Identified($0, $1) }
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

  /// Returns the columns of the records or of the groups as they are stored: rows never include
  /// pending changes.
  public func fetchRows(_ request: FetchRequest) throws -> [ResultRow] {
    try store.read { try $0.fetchRows(request) }
  }

  /// Returns the number of records that `fetch` would return. For a request that groups records or
  /// removes duplicates it is the number of rows of `fetchRows`.
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
